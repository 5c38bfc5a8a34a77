"""Every error a user can meet, drawn.

    JudgewatchError                 one line: what is wrong, the value, the fix        exit code 1
    ├── UsageError                  a setting or an option is wrong                    exit code 64
    │   ├── ConfigError             judgewatch.toml: the key, the value, the fix
    │   └── DataFileError           a rubric, anchor or traffic file: the line, the field, the fix
    │       └── StoppedReadingError somebody stopped the reading; nothing of the file is taken in
    └── StoreError                  the database cannot be used
        ├── DamagedStoreError       damaged, or no judgewatch database: waiting does not help
        ├── NewerDatabaseError      written by a newer judgewatch
        └── LeaseHeldError          another scorer works on this database

A failed grade is not an error: it is a verdict without a score, with a reason (``UnscoredReason``).
"""


class JudgewatchError(Exception):
    """Something a person has to know; the message names the thing and the fix."""

    exit_code = 1


class UsageError(JudgewatchError):
    """A setting or an option is wrong."""

    exit_code = 64


class ConfigError(UsageError):
    """The configuration names a value that cannot be used."""


class DataFileError(UsageError):
    """A rubric, anchor or traffic file has a line that cannot be used."""


class StoppedReadingError(DataFileError):
    """Somebody asked to stop while a file was read; nothing of it is taken in."""


class StoreError(JudgewatchError):
    """The database cannot be used."""


class DamagedStoreError(StoreError):
    """The file is damaged, or is no judgewatch database: waiting does not help."""


class NewerDatabaseError(StoreError):
    """The database was written by a newer judgewatch."""


class LeaseHeldError(StoreError):
    """Another scorer works on this database."""
