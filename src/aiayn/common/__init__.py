"""What every stage uses: errors a user can act on, whole-or-absent files, progress."""
