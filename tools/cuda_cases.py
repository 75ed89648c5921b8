"""The programs that cuda_programs.py runs: where they are, how they are told the device, and what is compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Case(NamedTuple):
    """A program, the arguments that choose the device, and what is compared."""

    name: str
    tree: str  # in SRC; the program runs in its copy
    steps: Sequence[str]  # a script and its arguments, one after the other
    numbers: str = ""  # a pattern with {} for each number; nothing: the program has no seed, or prints none
    cuda: str = ""  # what each step gets besides on the device
    cpu: str = ""
    data: Sequence[tuple[str, str]] = ()  # in SRC or DATA, and where it is to lie, seen from the program
    files: Sequence[str] = ()  # that must be there in the end
    tolerance: float = 1e-3
    libraries: Sequence[str] = ()  # folders of SRC in PYTHONPATH
    stubs: Sequence[str] = ("torchvision",)  # of the corpus
    folder: str = "."  # of the copy, where the program runs
    alone: bool = False  # on the device only


def mnist(count: int, where: str = "../data/MNIST") -> list[tuple[str, str]]:
    """So many pictures of handwritten digits, where torchvision looks for them."""
    return [(f"mnist-small/MNIST:{count}", where)]


def example(name: str, arguments: str, numbers: str = "loss: {}", script: str = "main.py", **more: Any) -> Case:
    """One of pytorch/examples."""
    return Case(name, f"examples/{name}", [f"{script} {arguments}"], numbers, **more)


def words(model: str) -> Case:
    """A language model of pytorch/examples."""
    sizes = "--emsize 16 --nhid 16 --epochs 1 --bptt 8 --batch_size 8 --log-interval 1 --dry-run --accel --data w"
    train = f"main.py --model {model} {sizes}"
    steps = [train, "generate.py --data w --words 10 --accel"]
    name = f"word_language_model {model}"
    return Case(name, "examples/word_language_model", steps, "loss +{}", data=[("words", "w")], files=["model.pt"])


def nanogpt(dtype: str, tolerance: float) -> Case:
    """The training of nanoGPT, small, gone on with, and a text."""
    sizes = "--eval_iters=1 --log_interval=1 --block_size=16 --batch_size=4 --n_layer=2 --n_head=2 --n_embd=32 --dropout=0.0"
    steps = "--max_iters=6 --lr_decay_iters=6 --eval_interval=3 --warmup_iters=2 --compile=False"
    train = f"train.py config/train_shakespeare_char.py {sizes} {steps} --dtype={dtype}"
    sample = f"sample.py --out_dir=out-shakespeare-char --num_samples=1 --max_new_tokens=5 --dtype={dtype}"
    return Case(
        f"nanoGPT {dtype}",
        "nanoGPT",
        ["data/shakespeare_char/prepare.py", train, f"{train} --init_from=resume --max_iters=8", sample],
        "loss {}",
        "--device=cuda",
        "--device=cpu",
        [("ng-video-lecture/input.txt", "data/shakespeare_char/input.txt")],
        tolerance=tolerance,
        stubs=["requests", "tiktoken"],
    )


def library(name: str, *arguments: str, numbers: str = "loss {}", tolerance: float = 1e-3, alone: bool = False) -> Case:
    """A program of our own, which uses a library as its users do."""
    shown = " ".join([name, *arguments])
    step = " ".join([f"HERE/library_programs/{name}.py", *arguments])
    return Case(shown, "", [step], numbers, tolerance=tolerance, stubs=(), alone=alone)


def gan(name: str) -> Case:
    """One of PyTorch-GAN's, an epoch; its noise comes from NumPy, without a seed."""
    step = f"{name}.py --n_epochs 1 --batch_size 8 --n_cpu 1"
    where = "../../data/mnist/MNIST"
    return Case(f"PyTorch-GAN {name}", f"PyTorch-GAN/implementations/{name}", [step], data=mnist(16, where))


GAN = "--batchSize 2 --ngf 2 --ndf 2 --nz 4 --manualSeed 1 --workers 1"
ADDER = "--data.ndigit=1 --trainer.max_iters=3 --trainer.batch_size=4 --trainer.num_workers=0"
SMALL = "--epochs 1 --batch-size 16 --log-interval 1"
MODELS = (
    "bert gpt2 llama t5 vit bert_mlm roberta distilbert gpt_neox opt mistral qwen2 gemma mixtral phi mamba bart resnet "
    "wav2vec2 whisper"
)
CASES = [
    example("mnist", f"{SMALL} --test-batch-size 8 --save-model --dry-run", data=mnist(8), files=["mnist_cnn.pt"]),
    example("mnist_rnn", f"{SMALL} --test-batch-size 32 --save-model --accel", data=mnist(32)),
    example("mnist_forward_forward", "--epochs 1 --train_size 8 --test_size 8", data=mnist(16, "data/MNIST")),
    example("mnist_hogwild", f"{SMALL} --dry-run --num-processes 1", data=mnist(16), cuda="--cuda"),
    example("vae", SMALL, data=mnist(32)),
    example(
        "dcgan",
        "--dataset fake --dry-run --accel --batchSize 2 --ngf 2 --ndf 2 --nz 4 --manualSeed 1 --workers 1",
        "Loss_[DG]: {}",
    ),
    example("gat", "--epochs 1 --hidden-dim 8 --num-heads 1 --val-every 1", "loss(?:_train|_val)?:? {}", stubs=["requests"]),
    example("gcn", "--epochs 2 --val-every 1", "loss(?:_train|_val)?:? {}", stubs=["requests"]),
    example(
        "super_resolution",
        "--upscale_factor 8 --batchSize 8 --testBatchSize 2 --nEpochs 1 --accel --threads 1",
        data=[("bsds", "dataset")],
    ),
    example("regression", "", ""),
    *map(words, ("LSTM", "GRU", "RNN_TANH", "Transformer")),
    nanogpt("float32", 1e-3),
    nanogpt("bfloat16", 3e-2),
    nanogpt("float16", 3e-2),
    *map(gan, ("gan", "wgan", "wgan_gp", "cgan", "aae")),
    Case(
        "pygcn",
        "pygcn",
        ["train.py --epochs 3"],
        "loss_(?:train|val): {}",
        folder="pygcn",
        libraries=["pygcn"],
        data=[("cora/cora.content", "data/cora/cora.content"), ("cora/cora.cites", "data/cora/cora.cites")],
    ),
    *(
        Case(
            f"makemore {kind}",
            "makemore",
            [f"makemore.py --type {kind} --max-steps 11 --n-embd 8 --n-embd2 8 --n-layer 1 --n-head 2 --batch-size 4 -n 0"],
            "loss:? {}",
            "--device=cuda",
        )
        for kind in ("gru", "transformer")
    ),
    Case(
        "minGPT adder",
        "minGPT",
        [f"projects/adder/adder.py --model.model_type=gpt-nano {ADDER}"],
        "loss {}",
        libraries=["minGPT"],
    ),
    Case("bigram", "ng-video-lecture", ["bigram.py"], "loss {}"),
    library("first_hour", numbers="", alone=True),
    library("second_hour", numbers="", alone=True),
    library("lightning_fit", "32"),
    library("lightning_fit", "16-mixed"),
    library("lightning_fit", "bf16-mixed", tolerance=3e-2),
    library("ignite_fit"),
    library("skorch_fit"),
    library("accelerate_fit", "no"),
    library("accelerate_fit", "bf16", tolerance=3e-2),
    library("metrics_values", numbers="value {}"),
    library("diffusers_models"),
    library("peft_models"),
    library("sentences"),
    *(
        library("small_libraries", name)
        for name in ("x_transformers", "torchdiffeq", "torchsde", "entmax", "segmentation", "einops", "timm")
    ),
    *(library("transformers_models", name) for name in MODELS.split()),
]
