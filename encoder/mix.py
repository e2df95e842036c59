"""Weights on the way from the published ones to the trained ones: what is trained far on one kind of talk reads other
kinds better a little less far (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models", arXiv 2109.01903).

    python encoder/mix.py MODEL TRAINED.npz TUNED.npz [--share 0.75]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from export import layers_of

from embermem.embedders.convert import Published


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("trained", type=Path)
    parser.add_argument("tuned", type=Path)
    parser.add_argument("--share", type=float, default=0.75, help="0: the published weights; 1: the trained ones")
    given = parser.parse_args()
    published = Published(given.model)
    mixed = {
        f"layers.{number}.{name}": (1.0 - given.share) * before + given.share * layer[name]
        for number, layer in layers_of(given.trained).items()
        for name, before in published.layer(number).items()
    }
    np.savez(given.tuned, allow_pickle=False, **{name: one.astype(np.float32) for name, one in mixed.items()})
    print(f"{given.tuned}: {len(mixed)} arrays, {given.share:g} of the way")


if __name__ == "__main__":
    main()
