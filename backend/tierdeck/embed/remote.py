"""A model behind the embeddings API, OpenAI's or any server's that speaks it, through the openai package."""

from __future__ import annotations

import email.utils
import time
import weakref
from collections.abc import Mapping, Sequence
from importlib import import_module

import numpy as np
import openai
from numpy.typing import NDArray

from tierdeck.embed.answer_body import longest_answer_bytes, read_body, vectors_of
from tierdeck.errors import ProviderError, VectorRefusedError
from tierdeck.secret_scan import mask_secrets

_RETRYABLE = frozenset({408, 409, 425, 429})
_SETUP_FAULTS = {
    401: "the key is refused; check it",
    403: "the key may not do this; check its rights",
    404: "there is no such model or address; check model and base_url",
}
# Models that make shorter vectors on demand, and their full length. Other servers refuse the parameter.
_NATIVE_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072}
_MESSAGE_CHARS = 300
# What the HTTP client raises when no connection came about; the package it comes from changed its name.
_HTTP_ERROR: type[Exception] = import_module(
    openai.DefaultHttpxClient.__base__.__module__.partition(".")[0]
).HTTPError
_NOT_CONNECTED = frozenset({"ConnectError", "ConnectTimeout", "ProxyError", "UnsupportedProtocol"})


class RemoteEmbedder:
    """A remote model. Texts leave this machine. Spec: SPEC-09.01, SPEC-09.02, SPEC-09.07"""

    is_remote = True

    def __init__(self, name: str, dimensions: int, *, api_key: str, base_url: str, timeout_s: float) -> None:
        """Make the client; nothing is sent yet.

        Args:
            name: the model, as the server calls it.
            dimensions: the length its vectors must have.
            base_url: the API's address, up to `/v1`.
            timeout_s: the longest wait for one answer, in seconds.
        """
        self.name = name
        self.dimensions = dimensions
        self._key = api_key
        self._timeout_s = timeout_s
        # It would retry by itself; the indexer counts attempts and waits, so that it can be stopped. And it would
        # follow a redirection, which sends the texts to an address that nobody chose.
        self._client = openai.OpenAI(
            api_key=api_key,
            base_url=base_url,
            timeout=timeout_s,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(follow_redirects=False),
        )
        weakref.finalize(self, self._client.close)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors, float32 (len(texts), dimensions), in order; as the model gave them, unchecked.

        Raises:
            ProviderError: the provider refused or failed, or gave an answer that can't be matched to the texts.
            VectorRefusedError: some vectors have another length than the others.
        """
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        try:
            rows = vectors_of(self._answer(texts))
        except openai.APIStatusError as e:
            raise self._status_error(e) from e
        except openai.APIConnectionError as e:
            raise self._connection_error(e) from e
        except TimeoutError as e:
            raise self._error(f"its answer was not whole after {self._timeout_s:g} s", is_retryable=True) from e
        except _HTTP_ERROR as e:  # in the midst of the body, where the package no longer wraps it
            raise self._error(f"no answer ({e or type(e).__name__})", is_retryable=True) from e
        except (openai.OpenAIError, ValueError) as e:
            raise self._error(f"its answer can't be read ({e})", is_retryable=True) from e
        return self._in_order(rows, len(texts))

    def _answer(self, texts: Sequence[str]) -> bytes:
        until_s = time.monotonic() + self._timeout_s
        sent = self._client.embeddings.with_streaming_response.create(
            model=self.name,
            input=list(texts),
            dimensions=self._asked_dimensions(),
            encoding_format="base64",
        )
        with sent as answer:
            limit = longest_answer_bytes(len(texts), self.dimensions)
            return read_body(answer.iter_bytes(), limit_bytes=limit, until_s=until_s)

    def _asked_dimensions(self) -> int | openai.Omit:
        native = _NATIVE_DIMENSIONS.get(self.name)
        return openai.omit if native is None or native == self.dimensions else self.dimensions

    def _in_order(self, rows: list[tuple[object, NDArray[np.float32]]], texts: int) -> NDArray[np.float32]:
        by_place = {place: vector for place, vector in rows if isinstance(place, int)}
        places = sorted(place for place, _ in rows if isinstance(place, int))
        if places != list(range(texts)):
            raise self._error(
                f"its answer has {len(rows)} vectors for the places {places[:20]}, {texts} texts were sent",
                is_retryable=True,
            )
        lengths = {vector.size for _, vector in rows}
        if lengths == {self.dimensions}:
            return np.stack([by_place[place] for place in places])
        if len(lengths) == 1 and texts > 1:
            got = lengths.pop()
            raise ProviderError(
                f"embed with {self.name}: its vectors have {got} numbers, {self.dimensions} are configured",
                is_retryable=False,
                stops_run=True,
                hint=f"set dimensions = {got}, or choose another model",
            )
        got_lengths = " and ".join(str(length) for length in sorted(lengths))
        raise VectorRefusedError(
            f"embed with {self.name}: a vector of {got_lengths} numbers came, {self.dimensions} are configured"
        )

    def _connection_error(self, e: openai.APIConnectionError) -> ProviderError:
        cause = e.__cause__
        if type(cause).__name__ in _NOT_CONNECTED:
            return self._error(
                f"{self._client.base_url.host} can't be reached ({cause})",
                is_retryable=True,
                stops_run=True,
                hint="check the network and base_url; search by word works, and `tierdeck embed` goes on later",
            )
        return self._error(f"no answer ({e.message})", is_retryable=True)

    def _status_error(self, e: openai.APIStatusError) -> ProviderError:
        said = f"{e.status_code} {e.message}"
        if e.code == "insufficient_quota":
            return self._error(said, stops_run=True, hint="the account has no credit left")
        if e.status_code < 400:
            return self._error(
                f"{said}, to {e.response.headers.get('location')}", stops_run=True, hint="set base_url"
            )
        if e.status_code in _SETUP_FAULTS:
            return self._error(said, stops_run=True, hint=_SETUP_FAULTS[e.status_code])
        if e.status_code in _RETRYABLE or e.status_code >= 500:
            return self._error(
                said, is_retryable=True, retry_after_s=retry_after_s(e.response.headers, time.time())
            )
        return self._error(said)

    def _error(
        self,
        said: str,
        *,
        is_retryable: bool = False,
        retry_after_s: float | None = None,
        stops_run: bool = False,
        hint: str | None = None,
    ) -> ProviderError:
        """The error, with no key in its message: some servers repeat the one they were sent."""
        clean = mask_secrets(said.replace(self._key, "[hidden: the key]"))[:_MESSAGE_CHARS]
        return ProviderError(
            f"embed with {self.name}: {clean}",
            is_retryable=is_retryable,
            retry_after_s=retry_after_s,
            stops_run=stops_run,
            hint=hint,
        )


def retry_after_s(headers: Mapping[str, str], now_s: float) -> float | None:
    """The wait the provider asks for, in seconds: `Retry-After-Ms`, or `Retry-After` as a number or a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if text.replace(".", "", 1).isdigit() and text.isascii():
            return float(text) * unit
    try:
        when = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except (TypeError, ValueError):
        return None
    return max(0.0, when.timestamp() - now_s)
