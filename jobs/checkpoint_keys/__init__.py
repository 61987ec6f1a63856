"""Which checkpoints lie in a run's folder, and which of them are complete: names, sizes and small texts only.

Nothing is unpickled: ``.pt``, ``.ckpt`` and ``.metadata`` are pickles of customers.
"""

from jobs.checkpoint_keys.groups import files_of, is_named_folder
from jobs.checkpoint_keys.recognise import Found, recognise, wanted
from jobs.checkpoint_keys.rules import READ_BYTES

__all__ = ["READ_BYTES", "Found", "files_of", "is_named_folder", "recognise", "wanted"]
