"""A child that does not answer: seed 0 ends it, seed 1 makes it wait, any other is answered."""

import json
import os
import sys
import time


def say(message: object) -> None:
    """As `child.say`, without what that takes to load."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    for line in sys.stdin:
        say({"trial": f"trial of seed {int(line)}"})
        if int(line) == 0:
            os._exit(7)
        if int(line) == 1:
            time.sleep(60)
        say({"counts": {"cases": 1}, "violations": []})
