#!/usr/bin/env python3
"""Writes the profiles of this folder: one per model, derived from the iteration times of OmniLearn (ACSOS 2020), figure 3.

Model:       seconds of an iteration with b samples on c cores = b * s(c) * macs / macs(ResNet-50 on CIFAR-10)
             s(c) from the published times of uniform batches on 3, 5 and 12 cores; other counts by the power law through
             them. No fixed part: the figure's balanced batches keep within 4 % of the total that times in proportion
             to the batch imply (2.90 for 3).
Assumptions: 32 samples per worker in figure 3 (not stated there; the released code's default). Times scale with the
             multiply-accumulates of a forward pass. One kind of Xeon stands for another.
Usage:       scenarios/omnilearn/derive-profiles.py
"""
import json
import pathlib

FIGURE_3 = {3: 4.947, 5: 2.338, 12: 0.811}  # cores: seconds of an iteration, uniform batches
BATCH = 32
POWER = {"exponent": 1.294, "leave_one_out_error": 0.1374}  # least squares in the logarithms; as in xeon-48core-*
REFERENCE_GMACS = 1.298  # ResNet-50 on 32x32 images, first convolution 3x3

# name: (file, network, parameters, GMACs of a forward pass, input, data set, its classes where the study tells them)
MODELS = [
    ("resnet50-cifar10", "resnet50-cifar", 23520842, 1.298, "32x32 images", "cifar10", 10),
    ("resnet18-food101", "resnet18", 11689512, 1.814, "224x224 images", "food101", 101),
    ("vgg11-places365", "vgg11", 132863336, 7.609, "224x224 images", "places365", 365),
    ("resnet50-caltech256", "resnet50", 25557032, 4.089, "224x224 images", "caltech256", None),
    ("alexnet-cifar100", "alexnet", 61100840, 0.714, "images resized to 224x224", "cifar100", 100),
    ("gpt2-tiny-shakespeare", "gpt2-small", 124439808, 7.982, "sequences of 64 tokens", "tiny-shakespeare", None),
]

# AlexNet's memory over batches 32 to 1024 (SelSync, CLUSTER 2023): 1.9, 2.1, 2.45, 3.4, 5.7, 10.3 GB: the line through
# the ends.
MEMORY = {"alexnet": {"base_bytes": 1.63e9, "bytes_per_sample": 8.47e6}}


# A network small enough to train for real, given the times of ResNet-50: uneven cores, not the network, decide then.
REAL = ("small-cnn-with-times-of-resnet50", "small-cnn", 11162)


def profile(network, parameters, gmacs, data, dataset, classes):
    scale = gmacs / REFERENCE_GMACS
    compute = [
        {
            "cores": cores,
            "law": "affine",
            "intercept_s": 0.0,
            "slope_s_per_sample": round(scale * seconds / BATCH, 8),
            "knee": None,
            "leave_one_out_error": None,
            "relative_half_width": None,
            "batch_min": 1,
            "batch_max": 128,
            "candidates": [],
        }
        for cores, seconds in FIGURE_3.items()
    ]
    sources = [
        "seconds per sample on 3, 5, 12 cores: iteration times of uniform batches (4947, 2338, 811 ms), OmniLearn, "
        "ACSOS 2020, figure 3, whose mapping of workers to cores is presumed from the text; divided by 32 samples, which is "
        "assumed",
        "other core counts: power law through these three; super-linear; extrapolated beyond 3 to 12 cores",
        "no fixed part: batches balanced by the controller sum to 2.90 of 3 uniform ones in the same figure",
        "iteration jitter: 6 %, the mean of sd/mean of the iteration times in figure 3 (7.1, 7.5, 3.1 %)",
        "run jitter: not published (the simulator's default is used and noted)",
        "server rates: not published; 10 GB/s assumed",
        "optimizer step: 0, because published iteration times include it",
    ]
    if gmacs != REFERENCE_GMACS:
        sources.insert(1, f"scaled from ResNet-50 on CIFAR-10 (1.298e9 multiply-accumulates of a forward pass, counted from "
                          f"its layers) to {network} on {data} ({gmacs}e9, counted likewise): times {scale:.4g}")
    memory = MEMORY.get(network)
    if memory:
        sources.append("memory: line through 1.9 GB at 32 and 10.3 GB at 1024 samples, AlexNet on a K80, SelSync "
                       "(CLUSTER 2023)")
    return {
        "format": "paceline-profile",
        "version": 2,
        "origin": "derived",
        "sources": sources,
        "network": {"name": network, "parameter_count": parameters, "parameter_bytes": 4 * parameters},
        "dataset": {"name": dataset, "classes": classes},
        "machine": {"cpu_model": "Intel Xeon Platinum 2.10 GHz, 3 to 12 of 48 cores"},
        "fits": {
            "compute": compute,
            "optimizer_step": [{"cores": cores, "seconds": 0.0} for cores in FIGURE_3],
            "server_accumulate_bytes_per_s": 1e10,
            "server_step_bytes_per_s": 1e10,
            "core_scaling": {"law": "power", **POWER, "cores_min": 3, "cores_max": 12},
            "memory": memory,
            "ensemble": [],
        },
        "jitter": {
            "iteration_cv": 0.06,
            "run_cv": None,
            "processes": 1,
            "process_cv": None,
            "run_cv_upper": None,
            "iteration_law": "log_normal",
            "iteration_quantiles": None,
        },
    }


def write(file, content):
    (folder / f"{file}.json").write_text(json.dumps(content, indent=1) + "\n")


folder = pathlib.Path(__file__).parent / "profiles"
folder.mkdir(exist_ok=True)
for file, *model in MODELS:
    write(file, profile(*model))
file, network, parameters = REAL
stand_in = profile(network, parameters, REFERENCE_GMACS, "", "built-in-images", 10)
stand_in["sources"].insert(0, "the network is small-cnn, the times are those of ResNet-50 on CIFAR-10")
write(file, stand_in)
