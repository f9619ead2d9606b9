"""Write the first inputs of all fuzz targets into `fuzz/corpus`: small trees in every format."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

from treemean import sample
from treemean.formats import all_formats
from treemean.formats.writing import Unwritable
from treemean.trees import Treebank

CORPUS = Path(__file__).parent / "corpus"


def written(name: str, bank: Treebank) -> bytes:
    """Return a treebank in a format, discontinuous trees made continuous where need be."""
    stream = io.BytesIO()
    writer = all_formats()[name].writer(stream, Unwritable("make-continuous"))
    writer.write(bank)
    writer.close()
    return stream.getvalue()


def main() -> None:
    """Write the inputs; those that are there under other names stay."""
    bank = sample.generate(3, language="nl", seed=3, max_length=7)
    files = {
        f"{name}/trees": written(name, bank) for name in all_formats() if name not in ("export4", "conllu")
    }
    files["conllu/trees"] = (
        b"# sent_id = 1\n# text = a b\n"
        + b"".join(
            f"{number}\t{form}\t_\tX\t_\t_\t{head}\tdep\t_\t_\n".encode()
            for number, form, head in ((1, "a", 2), (2, "b", 0), (3, "c", 1), (4, "d", 2))
        )
        + b"1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    )
    files["export/version4"] = written("export4", bank)
    files["ptb/wrapper"] = b"( (S (NP (N a) (N b)) (VP (V c) (-NONE- *T*-1))) )\n"
    files["discbracket/bare"] = b"(S (VP (V 0) (P 3)) (NP (D 1) (N 2)))\tWake your friend up\n"
    for name in ("discbracket", "ptb", "jsonl", "export"):
        files[f"content/{name}"] = written(name, bank[:1])
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        for member in ("a.dbr", ".hidden", "b/c.dbr"):
            packed.writestr(zipfile.ZipInfo(member), written("discbracket", bank[:1]))
    files["archive/zip"] = archive.getvalue()
    files["text/lines"] = b"Wat heb jij gisteren gezien ?\n\n, .\nx\n"
    files["hits/model"] = (
        b'{"format": "treemean hits", "version": 1, "runs": ["a", "b"], "model": {"name": "equal"}}'
    )
    files["prm/evalb"] = (
        b"DEBUG 0\nMAX_ERROR 10\nCUTOFF_LEN 40\nLABELED 1\nDELETE_LABEL TOP\nEQ_LABEL ADVP PRT\n"
    )
    trees = written("discbracket", bank)
    files["core-brackets/disc"] = b"\x01" + trees
    files["core-brackets/ptb"] = b"\x02" + written("ptb", bank)
    files["core-alpino/trees"] = written("alpino", bank[:2])
    for choice, name in enumerate(("export", "conllu", "jsonl", "tiger")):
        text = files["conllu/trees"] if name == "conllu" else written(name, bank[:2])
        files[f"core-plain/{name}"] = bytes([choice]) + text
    three = b"".join(
        f"(S ({label} 0=a {here}=b) {rest}=c)\n".encode() for label, here, rest in (("A", 1, 2), ("B", 2, 1))
    )
    files["core-averaging/three"] = b"\x00\x01\x01" + three
    files["core-averaging/labelled"] = b"\x06\x01\x02" + three + trees
    files["core-validity/one"] = b"\x02\x02" + struct.pack("<7Q", 0, 3, 0, 2, 7, 3, 0)[:-8]
    for name, data in files.items():
        path = CORPUS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main()
