"""The messages of a stream. Written by generate.py from docs/schemas: change nothing here.

A number that is not finite is nan, a list that has nothing is empty, and what a message does not have is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from .decoding import Message, Record, Timed


@dataclass(frozen=True, kw_only=True)
class Latent(Timed):
    """One frame's latent and the drift there, every frame."""

    KIND: ClassVar[str] = "latent"

    #: Centroid is the object's intensity centroid in the frame as it was read, x and y, pixels; empty where none was found. (px)
    centroid_px: list[float] | None = None
    #: latent/s (latent/s)
    drift: list[float]
    #: frames lost between the previous frame and this one (frames)
    dropped_before: int
    #: of the lease under which a worker runs the stream; later is greater
    epoch: int | None = None
    #: the latent then: one horizon after the other, one number a latent dimension (latent)
    forecast: list[float] | None = None
    #: how far ahead (s)
    forecast_s: list[float] | None = None
    #: the same (latent)
    forecast_sd: list[float] | None = None
    #: from the frame's arrival to its estimate (ms)
    latency_ms: float
    #: of the raw picture, grey values; 0 where not known (grey values)
    light: float
    #: z's squared distance from its forecast in units of their covariance, χ² with one degree of freedom a dimension; 0 without a forecast (1)
    nis: float
    #: frame number at the source, from 0; gaps are drops
    seq: int
    stream: str
    #: acquisition
    time: str
    #: increments are never formed across two of these
    trajectory: int
    #: latent units: sigma is 1 per sqrt(s) on the training clip (latent)
    z: list[float]
    #: the latent given all frames so far and the law (latent)
    z_filtered: list[float]
    #: (latent)
    z_filtered_sd: list[float]
    #: the encoder's own standard deviation, same units (latent)
    z_sd: list[float]


@dataclass(frozen=True, kw_only=True)
class LawDriftField(Record):
    """Where it is new to this sink."""

    #: the one or two latent dimensions shown; the others are at their mean
    axes: list[int]
    #: along the axes, latent/s (latent/s)
    drift: list[list[float]]
    #: its standard error (latent/s)
    drift_sd: list[list[float]]
    #: fewer than ten latents were seen nearby: what stands there is mostly expectation
    scarce: list[bool]
    #: the points, along the axes, latent (latent)
    z: list[list[float]]


@dataclass(frozen=True, kw_only=True)
class Law(Timed):
    """The law of motion, when it was refreshed."""

    KIND: ClassVar[str] = "sde"

    #: how many are Active
    active_count: int
    #: which dimensions move
    activity: list[Literal["active", "inactive", "undecided"]]
    calibration: Literal["on", "too_few_frames", "no_motion", "not_explained"] | None = None
    #: of the centroid's x and y, the share that the latents explain of what lasts from frame to frame (1)
    calibration_r2: list[float] | None = None
    #: σ²/2, latent²/s (latent²/s)
    diffusion: list[float]
    #: in the plane; with its 95 % interval, and along x and y (px²/s)
    diffusion_px2_s: float | None = None
    #: (px²/s)
    diffusion_px2_s_high: float | None = None
    #: (px²/s)
    diffusion_px2_s_low: float | None = None
    #: the same (µm²/s)
    diffusion_um2_s: float | None = None
    #: (µm²/s)
    diffusion_um2_s_high: float | None = None
    #: (µm²/s)
    diffusion_um2_s_low: float | None = None
    #: (px²/s)
    diffusion_xy_px2_s: list[float] | None = None
    #: (µm²/s)
    diffusion_xy_um2_s: list[float] | None = None
    #: changes of the drift found so far; what came before the last is forgotten
    drift_changes: int
    #: Cramér-Rao bound on the drift's summed squared error, Σσ²/T, (latent/s)² ((latent/s)²)
    drift_crlb: float
    #: where it is new to this sink
    drift_field: LawDriftField | None = None
    #: Seq of the frame from which on the drift's weights were used
    drift_frame: int
    #: which drift weights Drift comes from; 0 is the model's own
    drift_revision: int
    #: of the lease under which a worker runs the stream; later is greater
    epoch: int | None = None
    #: frames not learnt from, because they were unlike the others (frames)
    frames_held: int
    #: sd of the localisation noise found in the latents, latent (latent)
    noise_sd: list[float]
    #: their total time T (s)
    observed_s: float
    #: how far the centroid moves to the right a latent, one entry a dimension (px/latent)
    pixels_per_latent_x: list[float] | None = None
    #: downwards (px/latent)
    pixels_per_latent_y: list[float] | None = None
    #: grows by one at every refresh of the figures or of the drift
    revision: int
    seq: int
    #: σ, latent/s^½ (latent/s^0.5)
    sigma: list[float]
    #: upper 95 % limit (latent/s^0.5)
    sigma_high: list[float]
    #: lower 95 % limit (latent/s^0.5)
    sigma_low: list[float]
    stream: str
    time: str
    #: something drives the latents that they do not show
    too_few_dimensions: bool
    #: increments the law rests on (increments)
    transitions: int


@dataclass(frozen=True, kw_only=True)
class Event(Timed):
    """Something that happened once."""

    KIND: ClassVar[str] = "event"

    #: stable, lower_snake_case: dashboards match on it
    code: str
    count: int
    #: of the lease under which a worker runs the stream; later is greater
    epoch: int | None = None
    level: Literal["info", "warning", "error"]
    #: the frame it belongs to, or the last one seen
    seq: int
    stream: str
    #: for people: what happened and what to do
    text: str
    time: str


@dataclass(frozen=True, kw_only=True)
class Trigger(Timed):
    """The condition of a rule begins or ends with this frame."""

    KIND: ClassVar[str] = "trigger"

    #: the object's, in the frame as it was read; empty where none was found (px)
    centroid_px: list[float] | None = None
    #: of the lease under which a worker runs the stream; later is greater
    epoch: int | None = None
    #: from the frame's arrival to this (ms)
    latency_ms: float
    #: from the acquisition to when a pulse arrives, as online.lead says (ms)
    lead_ms: float | None = None
    #: the rule's
    name: str
    #: the one of a field that the rule is about
    object: int | None = None
    #: the condition begins; false: it ends
    on: bool
    #: its kind: zone, speed, changed, lost or sigma
    rule: str
    seq: int
    stream: str
    #: what it was compared with: 0 of a zone
    threshold: float
    #: acquisition
    time: str
    #: latent, px, latent/s, px/s, µm/s, latent/s^0.5 or alarms
    unit: str
    #: what was compared, in unit: of a zone how deep inside, negative outside; of changed and lost how many of their alarms are on
    value: float
    #: the latent given all frames so far and the law (latent)
    z_filtered: list[float]
    #: the latent then (latent)
    z_forecast: list[float] | None = None
    #: its standard deviation (latent)
    z_forecast_sd: list[float] | None = None


@dataclass(frozen=True, kw_only=True)
class ObjectsEarlier(Record):
    """Places in earlier frames that are known only now."""

    #: not detected there, but before and after
    filled: list[bool]
    id: list[int]
    #: (px)
    sd_px: list[float]
    seq: list[int]
    #: (px)
    x_px: list[float]
    #: (px)
    y_px: list[float]


@dataclass(frozen=True, kw_only=True)
class ObjectsSwaps(Record):
    """Pairs that may have exchanged their numbers, at most 1,000, the likeliest first."""

    id: list[int]
    other: list[int]
    #: probability (1)
    p_swap: list[float]
    #: the first frame in which each would show the other
    since_seq: list[int]


@dataclass(frozen=True, kw_only=True)
class Objects(Timed):
    """Of a field: every object, every frame."""

    KIND: ClassVar[str] = "objects"

    #: so far; null before the second step (px²/s)
    diffusion_px2_s: list[float]
    #: probability of being another object than the number says (1)
    doubt: list[float]
    #: places in earlier frames that are known only now
    earlier: ObjectsEarlier | None = None
    #: of the lease under which a worker runs the stream; later is greater
    epoch: int | None = None
    #: the same (px)
    height_px: int
    #: never used again, unless they are those of a publisher of places
    id: list[int]
    #: from the frame's arrival to this (ms)
    latency_ms: float
    #: too many to be looked at (spots)
    left_out: int
    #: what is special about it
    marks: list[int]
    #: probability that the step from its previous place is its own; null without one, or if too many objects are near to know (1)
    p_link: list[float] | None = None
    #: side of a pixel; 0 where not known (µm)
    pixel_um: float
    #: of the place, an axis (px)
    sd_px: list[float]
    seq: int
    #: a column a state of the population's law: the probability that the object is in it (1)
    state: list[list[float]] | None = None
    stream: str
    #: pairs that may have exchanged their numbers, at most 1,000, the likeliest first
    swaps: ObjectsSwaps | None = None
    #: acquisition
    time: str
    #: of objects, earlier places and swaps, the least certain: the NATS server takes no larger message (places)
    unsent: int | None = None
    #: of the frame as it was read (px)
    width_px: int
    #: of the frame as it was read, whole numbers at pixels' centres (px)
    x_px: list[float]
    #: the same (px)
    y_px: list[float]
    #: a column a latent, of a model of objects: what they look like; null where not detected (latent)
    z: list[list[float]] | None = None
    #: standard deviations of z (latent)
    z_sd: list[list[float]] | None = None


@dataclass(frozen=True, kw_only=True)
class TrackMotion(Record):
    #: exponent of the mean square displacement (1)
    alpha: float
    #: (1)
    alpha_high: float
    #: (1)
    alpha_low: float
    #: (1)
    anomalous: float
    #: stuck, free, confined, directed or anomalous
    class_: str
    #: (1)
    confined: float
    #: (1)
    directed: float
    #: (1)
    free: float
    #: of confinement; null where another class is likelier (px)
    radius_px: float
    #: null where it is not directed (px/s)
    speed_px_s: float
    #: (1)
    stuck: float


@dataclass(frozen=True, kw_only=True)
class Track(Timed):
    """Of a field: an object is born, merged, split or ended."""

    KIND: ClassVar[str] = "track"

    change: Literal["born", "ended", "merged", "split"]
    #: (px²/s)
    diffusion_px2_s: float
    #: (px²/s)
    diffusion_px2_s_high: float
    #: (px²/s)
    diffusion_px2_s_low: float
    #: by the population's law, which its own steps move from its state's (px²/s)
    diffusion_shrunk_px2_s: float | None = None
    #: (px²/s)
    diffusion_shrunk_px2_s_high: float | None = None
    #: (px²/s)
    diffusion_shrunk_px2_s_low: float | None = None
    #: (µm²/s)
    diffusion_um2_s: float | None = None
    #: (µm²/s)
    diffusion_um2_s_high: float | None = None
    #: (µm²/s)
    diffusion_um2_s_low: float | None = None
    #: it moved in a direction
    directed: bool
    #: of the lease under which a worker runs the stream; later is greater
    epoch: int | None = None
    #: the frame in which it was seen first
    first_seq: int
    #: in which it was detected (frames)
    frames: int
    id: int
    #: the same, last
    last_seq: int
    motion: TrackMotion | None = None
    #: how far it went; the motion of all together is taken off here and below (px)
    path_px: float
    seq: int
    #: probability of each state of the population's law, over its last steps (1)
    state: list[float] | None = None
    stream: str
    time: str
    #: mean, along x and y (px/s)
    velocity_px_s: list[float]
    #: of an end
    why: str | None = None
    #: (px)
    x_px: float
    #: (px)
    y_px: float


@dataclass(frozen=True, kw_only=True)
class PopulationLaw(Record):
    #: streams whose laws this one is made of; none where it is a camera's own
    cameras: list[str] | None = None
    #: sd of ln D from camera to camera; 0 where that is not evident (1)
    cameras_differ: float | None = None
    #: the law in a sentence
    says: str
    #: of the frame up to which it was learnt
    seq: int
    #: of the objects' time (1)
    share: list[float]
    #: (1)
    share_high: list[float]
    #: (1)
    share_low: list[float]
    #: sd of ln D from object to object within a state; 0 where none is told (1)
    spread: float
    #: (1)
    spread_high: float
    #: (1)
    spread_low: float
    #: (px²/s)
    state_px2_s: list[float]
    #: (px²/s)
    state_px2_s_high: list[float]
    #: (px²/s)
    state_px2_s_low: list[float]
    #: (µm²/s)
    state_um2_s: list[float] | None = None
    #: (µm²/s)
    state_um2_s_high: list[float] | None = None
    #: (µm²/s)
    state_um2_s_low: list[float] | None = None
    #: (increments)
    steps: int
    #: evidence that objects switch (nats)
    switching_nats: float
    #: from each state to each, a row a state (1/s)
    switching_s: list[float] | None = None
    #: pieces of tracks that it rests on
    tracks: int


@dataclass(frozen=True, kw_only=True)
class PopulationMap(Record):
    """Where it is another than before, every ten seconds, and at the end."""

    #: (px²/s)
    diffusion_px2_s: list[float]
    #: (px²/s)
    diffusion_sd_px2_s: list[float]
    #: standard error, an axis (px/s)
    drift_sd_px_s: list[float]
    #: (px/s)
    drift_x_px_s: list[float]
    #: (px/s)
    drift_y_px_s: list[float]
    #: traps and flows, a sentence each
    says: list[str]
    #: (increments)
    steps: list[float]
    #: its side (px)
    width_px: list[float]
    #: the cell's middle (px)
    x_px: list[float]
    #: (px)
    y_px: list[float]


@dataclass(frozen=True, kw_only=True)
class PopulationPairs(Record):
    #: (px)
    distance_px: list[float]
    #: velocity that one has by the other, above zero where it drives it away (px/s)
    force_px_s: list[float]
    #: (px/s)
    force_px_s_high: list[float]
    #: (px/s)
    force_px_s_low: list[float]
    #: evidence for a force (nats)
    nats: float
    #: that a value rests on (pairs)
    pairs: list[float]


@dataclass(frozen=True, kw_only=True)
class Population(Timed):
    """Of a field: all objects together, every so many frames and at the end."""

    KIND: ClassVar[str] = "population"

    #: since the start (objects)
    births: int
    #: where that has taken them since the start (px)
    common_shift_px: list[float]
    #: of all objects together, along x and y: the stage's, or a flow's (px/s)
    common_velocity_px_s: list[float]
    #: (px/s)
    common_velocity_sd_px_s: float
    #: (objects)
    count: int
    #: (objects)
    deaths: int
    #: (1/px²)
    density_px: float
    #: (1/µm²)
    density_um: float | None = None
    #: share of an object's frames in which it is detected (1)
    detected: float
    #: (px²/s)
    diffusion_px2_s: float
    #: (px²/s)
    diffusion_px2_s_high: float
    #: (px²/s)
    diffusion_px2_s_low: float
    #: (µm²/s)
    diffusion_um2_s: float | None = None
    #: (µm²/s)
    diffusion_um2_s_high: float | None = None
    #: (µm²/s)
    diffusion_um2_s_low: float | None = None
    #: that move in a direction now (objects)
    directed: int
    #: of the lease under which a worker runs the stream; later is greater
    epoch: int | None = None
    law: PopulationLaw | None = None
    #: share of the steps for which it is unknown (1)
    links_unknown: float | None = None
    #: expected share of wrong steps in the last frames; null before the first (1)
    links_wrong: float | None = None
    #: links_wrong at twice the frame rate; null if unknown (1)
    links_wrong_faster: float | None = None
    #: at half of it (1)
    links_wrong_slower: float | None = None
    #: where it is another than before, every ten seconds, and at the end
    map: PopulationMap | None = None
    #: of the frame up to which the map was learnt; none before there is one
    map_seq: int | None = None
    #: sd of a place, by the steps (px)
    noise_px: float
    pairs: PopulationPairs | None = None
    seq: int
    #: share of the steps whose object has such a D (1)
    spectrum: list[float]
    #: lower ends of the bins of the spectrum of D (px²/s)
    spectrum_px2_s: list[float]
    #: found in this frame (spots)
    spots: int
    #: (increments)
    steps: int
    stream: str
    #: sd of an object's light (px)
    template_px: float
    time: str
    #: that the diffusion rests on (objects)
    tracks: int
    #: ended without motion, shrunk diffusion and state: the processor time for them was spent (objects)
    unjudged: int | None = None
    #: that did not count for a change of the law: a frame had too many (increments)
    unweighed: int | None = None


@dataclass(frozen=True, kw_only=True)
class HealthCameras(Record):
    #: when its last record came, by the clock of the health's time; missing where none has
    heard: str | None = None
    #: why its law does not count; missing where it does
    left_out: str | None = None
    #: how often it has fallen silent
    silences: int
    stream: str


@dataclass(frozen=True, kw_only=True)
class HealthStages(Record):
    #: times that were taken
    count: int
    name: str
    #: (ms)
    p50_ms: float
    #: (ms)
    p95_ms: float
    #: (ms)
    p99_ms: float
    #: their sum, to a thirtieth (ms)
    total_ms: float


@dataclass(frozen=True, kw_only=True)
class Health(Timed):
    """The state of the stream, every second and at the end; also the answer of cmd.stats."""

    KIND: ClassVar[str] = "health"

    #: begun, by code (alarms)
    alarms: dict[str, int]
    #: of an experiment: the streams whose laws it is made of
    cameras: list[HealthCameras] | None = None
    #: of the lease under which a worker runs the stream; later is greater
    epoch: int | None = None
    #: tracked, over the last interval (1/s)
    fps: float
    #: by cause; messages for those that begin with sink_, of sink_NAME_cut those that were delivered without a part (frames)
    frames_dropped: dict[str, int]
    #: read from the source (frames)
    frames_in: int
    #: encoded and estimated (frames)
    frames_tracked: int
    #: why it stopped; none where it came to its end, or was told to stop
    problem: str | None = None
    #: messages accepted by sinks (messages)
    published: int
    #: frames waiting (frames)
    queue: int
    stages: list[HealthStages]
    #: "starting", "tracking", "source_lost" or "stopped"
    state: str
    stream: str
    time: str
    #: (s)
    uptime_s: float


@dataclass(frozen=True, kw_only=True)
class ViewRegion(Record):
    """What the command roi moves; missing where nothing is cut out."""

    #: (px)
    height_px: int
    #: (px)
    whole_height_px: int
    #: (px)
    whole_width_px: int
    #: (px)
    width_px: int
    #: of its upper left corner (px)
    x_px: int
    #: (px)
    y_px: int


@dataclass(frozen=True, kw_only=True)
class View(Timed):
    """What the encoder saw, and its reconstruction."""

    KIND: ClassVar[str] = "view"

    #: of the lease under which a worker runs the stream; later is greater
    epoch: int | None = None
    preview_jpeg: str
    #: empty where the model has no decoder
    reconstruction_jpeg: str | None = None
    #: what the command roi moves; missing where nothing is cut out
    region: ViewRegion | None = None
    seq: int
    stream: str
    time: str
    #: what the region is cut out of, small; not in every view
    whole_jpeg: str | None = None


@dataclass(frozen=True, kw_only=True)
class InfoKept(Record):
    """Where nats.durable is on."""

    #: bytes of the spool that were damaged; the messages in them are lost
    damaged: int | None = None
    #: why nothing is confirmed now
    problem: str | None = None
    #: times that the stream was gone, as deleted, and was made again
    remade: int | None = None
    #: times that what was on its way had to be sent again
    retries: int
    #: of JetStream
    stream: str


@dataclass(frozen=True, kw_only=True)
class InfoState(Record):
    """The law in KV, where nats.durable is on."""

    bucket: str
    #: states that were not kept, or late
    failed: int
    key: str
    #: why the last one was not
    problem: str | None = None
    #: times that the bucket was gone, as deleted, and was made again
    remade: int | None = None
    #: the last one read or written here; 0: none
    revision: int


@dataclass(frozen=True, kw_only=True)
class Info(Message):
    """What runs: the answer of cmd.info."""

    KIND: ClassVar[str] = "info"

    #: JetStream streams that take the commands, too: delete them
    captured_by: list[str] | None = None
    #: of what decides the results: equal where the same would come out
    config_sha256: str
    #: of the lease under which a worker runs the stream; later is greater
    epoch: int | None = None
    #: where nats.durable is on
    kept: InfoKept | None = None
    #: dimensions
    latents: int
    model: str
    model_sha256: str
    #: requests that wanted their answer where no inbox is
    refused: int
    #: the rules as written, {kind: options}
    rules: list[dict[str, object]] | None = None
    #: of the estimator
    seed: int
    source: str
    started: str
    #: the law in KV, where nats.durable is on
    state: InfoState | None = None
    stream: str
    #: names of the rules, in the configuration's order
    triggers: list[str] | None = None


#: The class of each kind.
KINDS: dict[str, type[Message]] = {
    "latent": Latent,
    "sde": Law,
    "event": Event,
    "trigger": Trigger,
    "objects": Objects,
    "track": Track,
    "population": Population,
    "health": Health,
    "view": View,
    "info": Info,
}
