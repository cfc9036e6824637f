"""An S3 server of our own, for tests."""

from __future__ import annotations

import logging
import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

KEYS = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "hidden-secret",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}


class Server:
    """An S3 server that can be stopped and started again, with what it holds."""

    def __init__(self) -> None:
        import boto3

        self._moto: Any = None
        self.port = 0
        self.start()
        self.client = boto3.client("s3", endpoint_url=self.url)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Serve, at the same address as before."""
        from moto.server import ThreadedMotoServer

        self._moto = ThreadedMotoServer("127.0.0.1", self.port, verbose=False)
        self._moto.start()
        self.port = self._moto.get_host_and_port()[1]

    def stop(self) -> None:
        """Be gone; what is held stays."""
        self._moto.stop()

    def post(self, path: str, data: bytes = b"") -> None:
        """Tell the server itself something: ``reset``."""
        asked = urllib.request.Request(f"{self.url}/moto-api/{path}", data, {"Content-Type": "text/plain"})
        urllib.request.urlopen(asked).close()

    def put(self, name: str, data: bytes | str, bucket: str = "described") -> None:
        """Write an object."""
        body = data.encode() if isinstance(data, str) else data
        self.client.put_object(Bucket=bucket, Key=name, Body=body)

    def get(self, name: str, bucket: str = "described") -> bytes:
        """The content of an object."""
        data: bytes = self.client.get_object(Bucket=bucket, Key=name)["Body"].read()
        return data

    def names(self, bucket: str = "described") -> list[str]:
        """All objects of a bucket."""
        return [one["Key"] for one in self.client.list_objects_v2(Bucket=bucket).get("Contents", [])]


@contextmanager
def serving() -> Iterator[Server]:
    """A server, and an environment that names it, with keys that it takes."""
    import s3fs

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("AWS_", "FSSPEC_")):
                patch.delenv(name)
        for name, value in KEYS.items():
            patch.setenv(name, value)
        server = Server()
        patch.setenv("AWS_ENDPOINT_URL", server.url)
        s3fs.S3FileSystem.clear_instance_cache()
        yield server
        server.stop()
        s3fs.S3FileSystem.clear_instance_cache()
