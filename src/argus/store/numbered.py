"""The numbered migrations of a store, in files."""

from __future__ import annotations

from importlib import resources

from argus.core.errors import OF_A_NEWER, ArgusError, Code


def migrations(store: str) -> list[str]:
    """In their order; the first brings an empty store to version 1."""
    folder = resources.files("argus.store").joinpath("migrations", store)
    files = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda entry: entry.name)
    return [entry.read_text(encoding="utf-8") for entry in files]


def check_version(version: int, known: int) -> None:
    if version > known:
        refused = ArgusError(
            Code.STORE_UNAVAILABLE,
            f"a newer Argus wrote the store (version {version}, this one knows {known}); nothing was changed",
            storeVersion=version,
            knownVersion=known,
        )
        refused.actions = OF_A_NEWER
        raise refused
