"""Runs in the peers' environment: beam search by CTranslate2 in float32 on an exported model.

Reads a request (JSON) as its argument; prints ``{"seconds": s, "outputs": [subwords joined by
blanks]}``. Loading the model is not counted.
"""

import json
import sys
import time
from typing import Any

import ctranslate2


def main() -> None:
    """Translate and print the time."""
    request: dict[str, Any] = json.loads(sys.argv[1])
    translator = ctranslate2.Translator(
        request["model"], compute_type="float32", inter_threads=1, intra_threads=request["threads"]
    )
    sources = [line.split() for line in request["sources"]]
    started = time.perf_counter()
    results = translator.translate_batch(
        sources,
        max_batch_size=4_000,
        batch_type="tokens",
        max_decoding_length=max(map(len, sources)) + 51,
        disable_unk=True,
        **request["options"],
    )
    seconds = time.perf_counter() - started
    outputs = []
    for result in results:
        scores = result.scores or [0.0]
        normalized = [
            score / ((6 + len(words)) / 6) ** request["alpha"]
            for score, words in zip(scores, result.hypotheses, strict=True)
        ]
        outputs.append(" ".join(result.hypotheses[normalized.index(max(normalized))]))
    print(json.dumps({"seconds": seconds, "outputs": outputs}))


if __name__ == "__main__":
    main()
