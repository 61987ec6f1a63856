"""A character-level language model with PyTorch DistributedDataParallel on gloo.

Reads the training operator's environment (MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE), CHECKPOINT_DIR and
RESUME_FROM. The batch of a step depends on seed and step alone, so a resumed run continues the same curve.
"""

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

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


class Model(nn.Module):
    """Embedding of the last characters, one hidden layer, a score for each letter."""

    def __init__(self, letters: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Embedding(letters, EMBED),
            nn.Flatten(),
            nn.Linear(CONTEXT * EMBED, HIDDEN),
            nn.Tanh(),
            nn.Linear(HIDDEN, letters),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def save(folder: Path, model: nn.Module, optimiser: torch.optim.Optimizer, step: int, loss: float) -> None:
    """Write step-<n>/ aside, move it into place, and mark it DONE last: half a checkpoint is none."""
    final, aside = folder / f"step-{step}", folder / f".step-{step}.tmp"
    if (final / "DONE").exists():
        return
    aside.mkdir(parents=True, exist_ok=True)
    torch.save({"model": model.state_dict(), "optimiser": optimiser.state_dict()}, aside / "model.pt")
    meta = json.dumps({"step": step, "loss": round(loss, 6)})
    (aside / "meta.json").write_text(meta)
    aside.rename(final)
    (final / "DONE.tmp").write_text(meta)
    (final / "DONE.tmp").rename(final / "DONE")
    print(f"saved checkpoint step-{step}", flush=True)


def load(folder: Path, model: nn.Module, optimiser: torch.optim.Optimizer) -> int:
    stored = torch.load(folder / "model.pt", weights_only=True)
    model.load_state_dict(stored["model"])
    optimiser.load_state_dict(stored["optimiser"])
    return int(json.loads((folder / "meta.json").read_text())["step"])


def pause(seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not STOP["asked"] and (left := deadline - time.monotonic()) > 0:
        time.sleep(min(left, 0.05))


def train(options: argparse.Namespace) -> int:
    rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    if world > 1:
        dist.init_process_group("gloo", init_method="env://")
    torch.set_num_threads(1)  # the matrices are small: more threads only get in each other's way
    torch.manual_seed(options.seed)
    folder = Path(os.environ.get("CHECKPOINT_DIR") or "checkpoints")
    alphabet = "".join(sorted(set(TEXT)))
    data = torch.tensor([alphabet.index(letter) for letter in TEXT])
    model = Model(len(alphabet))
    optimiser = torch.optim.Adam(model.parameters(), lr=options.learning_rate)
    step = 0
    if resume := os.environ.get("RESUME_FROM"):
        step = load(Path(resume), model, optimiser)
    parallel = DistributedDataParallel(model) if world > 1 else model
    weights = sum(p.numel() for p in model.parameters())
    print(f"replica {rank} of {world}: {weights:,} weights, from step {step}", flush=True)
    tick, ticked = time.perf_counter(), step
    while step < options.steps:
        step += 1
        batch = torch.Generator().manual_seed(options.seed * 1_000_003 + step)
        starts = torch.randint(0, len(data) - CONTEXT, (BATCH,), generator=batch)[rank::world]
        x = data[starts[:, None] + torch.arange(CONTEXT)]
        optimiser.zero_grad()
        part = nn.functional.cross_entropy(parallel(x), data[starts + CONTEXT])
        part.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        optimiser.step()
        # What the replicas must agree on besides the gradient: the mean loss, and whether to stop.
        shared = torch.tensor([part.item() / world, float(STOP["asked"])])
        if world > 1:
            dist.all_reduce(shared)
        loss, stop = shared[0].item(), shared[1].item() > 0
        if rank == 0:
            if step % options.log_every == 0 or step == options.steps or stop:
                now = time.perf_counter()
                rate = (step - ticked) * BATCH / max(now - tick, 1e-9)
                tick, ticked = now, step
                print(
                    f"step: {step:2d}  loss: {loss:8.5f}  grad_norm: {norm:7.4f}  tps: {round(rate):,}",
                    flush=True,
                )
            if stop or step == options.steps or step % options.checkpoint_every == 0:
                save(folder, model, optimiser, step, loss)
        if stop:
            print(f"asked to stop, stopped after step {step}", flush=True)
            return 128 + signal.SIGTERM
        pause(options.step_time)
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
    code = train(parser.parse_args())
    if dist.is_initialized():
        dist.destroy_process_group()
    return code


if __name__ == "__main__":
    sys.exit(main())
