"""Attention Is All You Need (Vaswani et al., 2017), reproduced end to end.

The stages, in the order data flows through them: ``corpus`` -> ``text`` -> ``batches`` ->
``model`` -> ``training`` -> ``decoding`` -> ``scoring`` -> ``reporting``. Stages hand each other
files; ``docs/stages.md`` lists what each reads and writes.
"""
