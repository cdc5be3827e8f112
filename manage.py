#!/usr/bin/env python
"""Synapse's command line: ``manage.py help`` lists the commands."""

import atexit
import gc
import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "synapse.settings")
    # Importing makes objects by the hundred thousand that all stay: looking for garbage among them takes 0.1 s, and
    # as long again at the end, when the system takes everything back anyway.
    gc.set_threshold(50_000, 20, 100)
    atexit.register(gc.freeze)
    try:
        from django.core.management import execute_from_command_line
        from django.db import DatabaseError
    except ImportError:
        sys.exit("Django is not installed here. Run `make install` first, then use .venv/bin/python manage.py.")
    try:
        execute_from_command_line(sys.argv)
    except DatabaseError as error:  # ours say it themselves; Django's own commands end here
        from wiki.startup import failure_in_words

        said = None if "--traceback" in sys.argv else failure_in_words(error)
        if said is None:
            raise
        sys.exit(said)


if __name__ == "__main__":
    main()
