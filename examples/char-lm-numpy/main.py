"""A character-level language model in NumPy: gradients by hand, data-parallel over the replicas.

Reads the training operator's environment (MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE), CHECKPOINT_DIR and
RESUME_FROM. The batch of a step depends on seed and step alone, so a resumed run continues the same curve.
"""

import argparse
import json
import math
import os
import signal
import socket
import struct
import sys
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # the matrices are small: more threads only get in each other's way

import numpy as np  # noqa: E402

TEXT = """
The harbour master opens the book before the sun is up. Every berth has a line, every line has a name,
and every name has an hour at which it must be gone. A ship that comes early waits outside the wall. A ship
that stays late pays for the hour, and so does the one that could not enter. The master knows the tide by
heart, yet looks it up each morning, because the sea does not care what a man remembers.

At six the pilots come in for tea. They speak of the wind, the sand bank that moved in the spring storm, and
the captain who would not listen. At seven the first ship is tied to the quay. Ropes are thrown, ropes are
caught, and somebody counts them. Counting is half of the work in a harbour: boxes, barrels, hours, coins.
What is counted twice by two people is true. What is counted once is a story.

When the fog is thick the bell rings every minute. The small boats find their way by ear, and the large ones
stand still. No one is proud in the fog. When it lifts, the cranes begin to turn, the carts roll to the
warehouse, and the book fills up line by line until the evening. Then the master draws a stroke below the
last name, adds the hours, and writes one number at the foot of the page.

A machine that learns to write is a little like a young clerk. At first it writes any letter after any other.
Then it learns that a space follows a word, that a vowel follows the letter before it, that the sea is never
far from the ship. It has no idea what a ship is. It has only seen what comes after what, a thousand times,
and it is a little less surprised each time. The number on its page is how surprised it still is.
""".strip()

CONTEXT, EMBED, HIDDEN, BATCH = 16, 24, 128, 256
STOP = {"asked": False}


class Group:
    """Sums vectors over all replicas in a star around rank 0, always in the order of the ranks."""

    def __init__(self, rank: int, world: int) -> None:
        self.rank, self.world, self.peers = rank, world, {}
        if world == 1:
            return
        port = int(os.environ["MASTER_PORT"])
        if rank == 0:
            server = socket.create_server(("", port))
            server.settimeout(120)
            while len(self.peers) < world - 1:
                peer, _ = server.accept()
                self._prepare(peer)
                self.peers[struct.unpack("!I", self._read(peer, 4))[0]] = peer
            server.close()
        else:
            peer = self._dial(os.environ["MASTER_ADDR"], port)
            self._prepare(peer)
            peer.sendall(struct.pack("!I", rank))
            self.peers[0] = peer

    @staticmethod
    def _prepare(peer: socket.socket) -> None:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.settimeout(300)

    @staticmethod
    def _dial(host: str, port: int) -> socket.socket:
        deadline = time.monotonic() + 120
        while True:
            try:
                return socket.create_connection((host, port), timeout=10)
            except OSError:  # rank 0 is not up yet, or its name is not known yet
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    @staticmethod
    def _read(peer: socket.socket, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = peer.recv(size - len(parts))
            if not part:
                raise ConnectionError("a replica has gone")
            parts += part
        return bytes(parts)

    def sum(self, vector: np.ndarray) -> np.ndarray:
        if self.world == 1:
            return vector
        size = vector.nbytes
        if self.rank:
            self.peers[0].sendall(vector.tobytes())
            return np.frombuffer(self._read(self.peers[0], size), vector.dtype).copy()
        total = vector.copy()
        for rank in range(1, self.world):
            total += np.frombuffer(self._read(self.peers[rank], size), vector.dtype)
        raw = total.tobytes()
        for peer in self.peers.values():
            peer.sendall(raw)
        return total


class Model:
    """Embedding of the last characters, one hidden layer, softmax; weights and gradients are flat vectors."""

    def __init__(self, letters: int, seed: int) -> None:
        shapes = [(letters, EMBED), (CONTEXT * EMBED, HIDDEN), (HIDDEN,), (HIDDEN, letters), (letters,)]
        rng = np.random.default_rng([seed, 1])
        self.flat = np.concatenate(
            [
                (rng.standard_normal(s) / math.sqrt(s[0]) if len(s) > 1 else np.zeros(s)).ravel()
                for s in shapes
            ]
        )
        self.grad = np.zeros_like(self.flat)
        self.first = np.zeros_like(self.flat)  # Adam's two moments
        self.second = np.zeros_like(self.flat)
        self.w, self.g, start = [], [], 0
        for shape in shapes:
            end = start + math.prod(shape)
            self.w.append(self.flat[start:end].reshape(shape))
            self.g.append(self.grad[start:end].reshape(shape))
            start = end

    def forward(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        table, w1, b1, w2, b2 = self.w
        seen = table[x].reshape(len(x), -1)
        hidden = np.tanh(seen @ w1 + b1)
        scores = hidden @ w2 + b2
        scores -= scores.max(axis=1, keepdims=True)
        chance = np.exp(scores)
        chance /= chance.sum(axis=1, keepdims=True)
        return seen, hidden, chance

    def backward(self, x: np.ndarray, y: np.ndarray) -> float:
        """Put the summed gradient of these examples into `grad` and return their summed loss."""
        _, w1, _, w2, _ = self.w
        d_table, d_w1, d_b1, d_w2, d_b2 = self.g
        seen, hidden, chance = self.forward(x)
        rows = np.arange(len(y))
        loss = -np.log(chance[rows, y] + 1e-12).sum()
        chance[rows, y] -= 1.0
        d_w2[:], d_b2[:] = hidden.T @ chance, chance.sum(axis=0)
        d_hidden = (chance @ w2.T) * (1.0 - hidden**2)
        d_w1[:], d_b1[:] = seen.T @ d_hidden, d_hidden.sum(axis=0)
        d_table[:] = 0.0
        np.add.at(d_table, x.ravel(), (d_hidden @ w1.T).reshape(-1, EMBED))
        return float(loss)

    def update(self, grad: np.ndarray, step: int, rate: float) -> None:
        self.first += 0.1 * (grad - self.first)
        self.second += 0.01 * (grad * grad - self.second)
        first, second = self.first / (1 - 0.9**step), self.second / (1 - 0.99**step)
        self.flat -= rate * first / (np.sqrt(second) + 1e-8)


def save(folder: Path, model: Model, step: int, loss: float) -> None:
    """Write step-<n>/ aside, move it into place, and mark it DONE last: half a checkpoint is none."""
    final, aside = folder / f"step-{step}", folder / f".step-{step}.tmp"
    if (final / "DONE").exists():
        return
    aside.mkdir(parents=True, exist_ok=True)
    np.savez(aside / "weights.npz", flat=model.flat, first=model.first, second=model.second)
    meta = json.dumps({"step": step, "loss": round(loss, 6)})
    (aside / "meta.json").write_text(meta)
    aside.rename(final)
    (final / "DONE.tmp").write_text(meta)
    (final / "DONE.tmp").rename(final / "DONE")
    print(f"saved checkpoint step-{step}", flush=True)


def load(folder: Path, model: Model) -> int:
    with np.load(folder / "weights.npz", allow_pickle=False) as stored:
        for name in ("flat", "first", "second"):
            getattr(model, name)[:] = stored[name]
    return int(json.loads((folder / "meta.json").read_text())["step"])


def sample(model: Model, alphabet: str, data: np.ndarray, length: int = 160) -> str:
    seen = list(data[:CONTEXT])
    rng = np.random.default_rng(7)
    for _ in range(length):
        chance = model.forward(np.array([seen[-CONTEXT:]]))[2][0]
        seen.append(int(rng.choice(len(alphabet), p=chance / chance.sum())))
    return "".join(alphabet[i] for i in seen).replace("\n", " ")


def pause(seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not STOP["asked"] and (left := deadline - time.monotonic()) > 0:
        time.sleep(min(left, 0.05))


def train(options: argparse.Namespace) -> int:
    rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    folder = Path(os.environ.get("CHECKPOINT_DIR") or "checkpoints")
    alphabet = "".join(sorted(set(TEXT)))
    data = np.array([alphabet.index(letter) for letter in TEXT])
    model = Model(len(alphabet), options.seed)
    step = 0
    if resume := os.environ.get("RESUME_FROM"):
        step = load(Path(resume), model)
    print(f"replica {rank} of {world}: {model.flat.size:,} weights, from step {step}", flush=True)
    group = Group(rank, world)
    loss, tick, ticked = math.nan, time.perf_counter(), step
    while step < options.steps:
        step += 1
        rng = np.random.default_rng([options.seed, 2, step])
        starts = rng.integers(0, len(data) - CONTEXT, BATCH)[rank::world]
        x = data[starts[:, None] + np.arange(CONTEXT)]
        part = model.backward(x, data[starts + CONTEXT])
        # One vector carries everything that the replicas must agree on: gradient, loss, and whether to stop.
        total = group.sum(np.concatenate([model.grad, [part, float(STOP["asked"])]]))
        grad, loss, stop = total[:-2] / BATCH, total[-2] / BATCH, total[-1] > 0
        model.update(grad, step, options.learning_rate)
        if rank == 0:
            if step % options.log_every == 0 or step == options.steps or stop:
                now = time.perf_counter()
                rate = (step - ticked) * BATCH / max(now - tick, 1e-9)
                tick, ticked = now, step
                norm = float(np.sqrt(grad @ grad))
                print(
                    f"step: {step:2d}  loss: {loss:8.5f}  grad_norm: {norm:7.4f}  tps: {round(rate):,}",
                    flush=True,
                )
            if stop or step == options.steps or step % options.checkpoint_every == 0:
                save(folder, model, step, loss)
        if stop:
            print(f"asked to stop, stopped after step {step}", flush=True)
            return 128 + signal.SIGTERM
        pause(options.step_time)
    if rank == 0:
        print(f"sample: {sample(model, alphabet, data)}", flush=True)
    print(f"done after step {step}", flush=True)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--checkpoint-every", type=int, default=50)
    parser.add_argument("--log-every", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--learning-rate", type=float, default=0.002)
    parser.add_argument("--step-time", type=float, default=0.0, help="seconds to wait after each step")
    signal.signal(signal.SIGTERM, lambda *_: STOP.update(asked=True))
    return train(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
