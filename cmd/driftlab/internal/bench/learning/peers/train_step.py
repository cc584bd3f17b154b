"""What one training step of the paper's encoder and decoder costs in PyTorch.

python3 train_step.py FRAMES THREADS STEPS LATENT

Prints one JSON object: milliseconds a frame, medians over the timed steps, and the process's peak memory. A step here is the
networks, the squared error of the pictures and Adam: the batch lies ready, and there are no latent dynamics to learn.
"""
import json
import statistics
import sys
import time

import torch
from torch import nn

FRAMES, THREADS, STEPS, LATENT = map(int, sys.argv[1:5])
WARMUP = 3


def conv(inputs, outputs):
    return nn.Conv2d(inputs, outputs, kernel_size=5, padding=2)


class Coder(nn.Module):
    """Picture (3x64x64) to mean and log sd, and a draw from them back to a picture."""

    def __init__(self):
        super().__init__()
        layers = []
        for k, (inputs, outputs) in enumerate([(3, 8), (8, 16), (16, 32), (32, 64)]):
            layers.append(conv(inputs, outputs))
            if k > 0:
                layers.append(nn.BatchNorm2d(outputs))
            layers.append(nn.LeakyReLU())
            if k < 3:
                layers.append(nn.MaxPool2d(2))
        self.encoder = nn.Sequential(*layers, nn.Flatten())
        self.mean, self.log_sd = nn.Linear(64 * 8 * 8, LATENT), nn.Linear(64 * 8 * 8, LATENT)
        self.seed = nn.Linear(LATENT, 64 * 8 * 8)
        layers = []
        for inputs, outputs in [(64, 32), (32, 16), (16, 8)]:
            layers += [nn.Upsample(scale_factor=2), conv(inputs, outputs), nn.BatchNorm2d(outputs), nn.LeakyReLU()]
        self.decoder = nn.Sequential(*layers, conv(8, 8), conv(8, 3), nn.Sigmoid())

    def forward(self, pictures):
        features = self.encoder(pictures)
        mean, sd = self.mean(features), self.log_sd(features).exp()
        z = mean + sd * torch.randn_like(mean)
        return self.decoder(self.seed(z).view(-1, 64, 8, 8))


def peak_mib():
    """VmHWM: ru_maxrss would count the process that started this one."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024


torch.set_num_threads(THREADS)
torch.manual_seed(1)
coder = Coder()
optimiser = torch.optim.Adam(coder.parameters(), lr=1e-3)
pictures = torch.rand(FRAMES, 3, 64, 64)

parts = {"forward": [], "backward": [], "optimiser": [], "train": []}
for step in range(WARMUP + STEPS):
    start = time.perf_counter()
    loss = (coder(pictures) - pictures).square().mean()
    forward = time.perf_counter()
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    backward = time.perf_counter()
    optimiser.step()
    end = time.perf_counter()
    if step >= WARMUP:
        for name, seconds in zip(parts, (forward - start, backward - forward, end - backward, end - start)):
            parts[name].append(1e3 * seconds / FRAMES)

result = {name + "_ms_per_frame": statistics.median(values) for name, values in parts.items()}
print(json.dumps({**result, "peak_mib": peak_mib(), "version": torch.__version__}))
