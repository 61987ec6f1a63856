"""What stops the local services from starting, in a sentence for the person at the keyboard."""


class CannotRun(Exception):
    """The message says what is wrong and what to do; it is shown without a traceback."""
