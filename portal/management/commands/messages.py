"""Brings the message catalogues in step with the sources and compiles them."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from portal import catalogues


class Command(BaseCommand):
    """``manage.py messages`` updates and compiles; ``--compile`` only compiles what changed."""

    help = "Update locale/*/LC_MESSAGES/django.po from the sources and compile them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--compile", action="store_true", help="only compile what changed")

    def handle(self, *args: Any, **options: Any) -> None:
        root = settings.BASE_DIR
        if not options["compile"]:
            for language in catalogues.LANGUAGES:
                catalogues.update(root, language)
                lacking = catalogues.missing(root, language)
                self.stdout.write(f"{language}: {len(lacking)} without a translation")
                for line in lacking:
                    self.stdout.write(f"  {line}")
        for file in catalogues.compile_all(root):
            self.stdout.write(f"compiled {file.relative_to(root)}")
