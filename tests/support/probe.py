"""The beginning of programs that try what a wall lets them do."""

#: ``allowed(work)`` is whether *work* is done, and not refused by the system.
ALLOWED = """
def allowed(work):
    try:
        work()
    except OSError:
        return False
    return True
"""
