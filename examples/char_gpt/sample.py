"""Let a trained character-level GPT write.

python sample.py --prompt "The statement " --temperature 0.7
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from checkpoint import load
from model import continue_text

import tenfold
from tenfold import int64, tensor


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Let a trained character-level GPT write.")
    parser.add_argument("--prompt", default="The ", help="what the text begins with")
    parser.add_argument("--length", type=int, default=400, help="characters to write (default 400)")
    parser.add_argument(
        "--temperature", type=float, default=0.8, help="low: likely characters, high: surprising ones (default 0.8)"
    )
    parser.add_argument("--top-k", type=int, default=20, help="draw among so many likeliest characters (default 20)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", type=Path, default=Path("runs/char_gpt/checkpoint.safetensors"))
    args = parser.parse_args(argv)
    tenfold.manual_seed(args.seed)
    try:
        model, vocabulary = load(args.checkpoint)
        prompt = tensor(vocabulary(list(args.prompt)), dtype=int64)
        ids = continue_text(model, prompt, args.length, args.temperature, args.top_k)
    except (RuntimeError, ValueError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("".join(vocabulary.lookup_tokens(ids.tolist())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
