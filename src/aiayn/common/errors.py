"""The one exception that means: the user can put this right."""


class UserError(ValueError):
    """Bad input or a bad setting; the message is one line naming the file, line or key.

    The command line prints it without a traceback and exits with code 2.
    """
