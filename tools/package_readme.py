"""Build hook of hatchling: the README as a package index shows it, without the checkout beside it.

Links to files of the checkout become addresses below ``[project.urls] Repository`` in ``pyproject.toml``, at
the tag of the version, so that an old release shows its own pictures and pages. The addresses have the form
of GitHub and GitLab: ``REPOSITORY/blob/TAG/FILE`` for a page, ``REPOSITORY/raw/TAG/FILE`` for a picture.
Without an address the links stay as they are; ``tools/release`` publishes nothing then.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_ELSEWHERE = re.compile(r"[a-z]+:|#")
"""How a link begins that leads out of the checkout, or to a heading of the README itself."""


def with_addresses(readme: str, repository: str, tag: str) -> str:
    """The README with the links to files of the checkout as addresses in ``repository`` at ``tag``.

    ``[page](docs/a.md#b)`` becomes ``[page](https://host/us/it/blob/v1.0/docs/a.md#b)``.
    """

    def absolute(link: re.Match[str]) -> str:
        if _ELSEWHERE.match(link["target"]):
            return link[0]
        kind = "raw" if link["picture"] else "blob"
        return f"{link['picture']}[{link['text']}]({repository.rstrip('/')}/{kind}/{tag}/{link['target']})"

    return _LINK.sub(absolute, readme)


class PackageReadme(MetadataHookInterface):
    """Fills ``readme``, which ``pyproject.toml`` calls dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        repository = metadata.get("urls", {}).get("Repository")
        if repository:
            text = with_addresses(text, repository, f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
