"""The ``aiayn`` commands, one thin file each: they parse, call a stage and print."""
