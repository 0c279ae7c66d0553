"""Reads archives as cloud-init does, with Python's email package: a JSON list of texts in, a list of lists of parts out."""
import email
import json
import sys


def part(p):
    kind = " ".join((p["Content-Type"] or "").split())
    body = p.get_payload()
    return None if p.is_multipart() or not body.strip() else {"contentType": kind, "body": body}


def read(text):
    message = email.message_from_string(text)
    if not message.is_multipart():
        return []
    return [q for q in map(part, message.get_payload()) if q]


json.dump([read(text) for text in json.load(sys.stdin)], sys.stdout)
