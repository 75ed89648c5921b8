"""Fine-tune a small ResNet on a folder of images, with most of its layers frozen.

python train.py                 # writes predictions.png and prints the accuracy; about a quarter of a minute

The images are scikit-learn's handwritten digits, written as PNG files into a folder for each class. The network first learns the
digits 0 to 4; then all but its last stage and a new last layer are frozen, and it learns 5 to 9.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from PIL import Image
from sklearn.datasets import load_digits

import tenfold
from tenfold import Tensor, nn, optim
from tenfold.data import DataLoader
from tenfold.vision import models, transforms
from tenfold.vision.datasets import ImageFolder
from tenfold.vision.utils import make_grid, save_image

SIDE = 32
MEAN, STD = 0.3, 0.35


def write_images(root: Path) -> None:
    """The digits as ``root/first|second/train|test/DIGIT/NUMBER.png``, every fifth for testing."""
    digits = load_digits()
    for number, (pixels, digit) in enumerate(zip(digits.images, digits.target, strict=True)):
        half = "first" if digit < 5 else "second"
        folder = root / half / ("test" if number % 5 == 0 else "train") / str(digit)
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray((pixels * 255 / 16).astype("uint8")).resize((SIDE, SIDE)).save(folder / f"{number}.png")


def batches(folder: Path, training: bool) -> DataLoader:
    """The folder's images, while training each moved a little."""
    steps = [transforms.RandomAffine(8, (0.08, 0.08))] if training else []
    prepare = transforms.Compose([*steps, transforms.ToTensor(), transforms.Normalize([MEAN] * 3, [STD] * 3)])
    return DataLoader(ImageFolder(folder, prepare), batch_size=64, shuffle=training)


def learn(model: nn.Module, loader: DataLoader, epochs: int) -> None:
    """Adam on the parameters that are not frozen."""
    optimizer = optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)
    for epoch in range(epochs):
        model.train()
        for images, truth in loader:
            loss = nn.functional.cross_entropy(model(images), truth)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch + 1}   loss {loss.item():.3f}")


@tenfold.no_grad()
def predictions(model: nn.Module, loader: DataLoader) -> tuple[Tensor, Tensor, Tensor]:
    """Images, guesses and truths."""
    model.eval()
    parts = [(images, model(images).argmax(1), truth) for images, truth in loader]
    images, guesses, truths = (tenfold.cat(part) for part in zip(*parts, strict=True))
    return images, guesses, truths


def freeze(model: models.ResNet, classes: int) -> None:
    """Nothing learns but the last stage, and a last layer for other classes."""
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for parameter in model.layer4.parameters():
        parameter.requires_grad_(True)
    model.fc = nn.Linear(model.fc.in_features, classes)


def main(arguments: list[str] | None = None) -> float:
    """Write the images, train, fine-tune, and draw guesses by class."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("runs/fine_tuning"))
    options = parser.parse_args(arguments)
    write_images(options.out / "images")
    tenfold.manual_seed(0)
    model = models.ResNet(models.resnet.BasicBlock, [1, 1, 1, 1], num_classes=5)  # ResNet-18 with half its blocks
    learn(model, batches(options.out / "images/first/train", True), options.epochs)
    freeze(model, classes=5)
    learn(model, batches(options.out / "images/second/train", True), options.epochs)
    images, guesses, truths = predictions(model, batches(options.out / "images/second/test", False))
    order = guesses.argsort(stable=True)[:: max(len(guesses) // 40, 1)][:40]
    save_image(make_grid(images[order] * STD + MEAN, nrow=8), options.out / "predictions.png")
    accuracy = float((guesses == truths).float().mean())
    print(f"{accuracy:.1%} of the test images of 5 to 9 are right; some, by guess, are in {options.out / 'predictions.png'}")
    return accuracy


if __name__ == "__main__":
    main()
