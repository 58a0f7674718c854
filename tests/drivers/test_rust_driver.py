"""The Rust driver `scylla`, unmodified, from crates.io: rust/ has the program. Skipped by name where it cannot be had."""
import os

import pytest

from harness import BUILD, FEATURES, HERE, Results, build, examine

SOURCES = HERE / "rust"


@pytest.fixture(scope="module")
def found():
    results = Results("rust-scylla")
    results.need("cargo")
    folder = BUILD / "rust"
    folder.mkdir(parents=True, exist_ok=True)
    manifest = ["--locked", "--manifest-path", str(SOURCES / "Cargo.toml")]
    results.fetch(["cargo", "fetch", *manifest], folder, (SOURCES / "Cargo.lock").read_text(encoding="utf-8"))
    build(["cargo", "build", "--offline", *manifest], folder, env=dict(os.environ, CARGO_TARGET_DIR=str(folder / "target")))
    return examine(results, [str(folder / "target/debug/rust-client")])


@pytest.mark.parametrize("feature", FEATURES)
def test_feature(found, feature):
    found.require(feature)
