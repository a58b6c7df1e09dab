"""Corpora: fetch and verify archives, extract parallel text, clean it."""
