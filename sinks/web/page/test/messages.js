// Messages as a run sends them, for the tests.

export const encode = (value) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
export const latent = (seq, more = {}) => ({ v: 1, kind: "latent", stream: "bead", seq, time: new Date(1000 * seq).toISOString(), z: [seq, -seq], z_sd: [1, 1], z_filtered: [seq, -seq], z_filtered_sd: [0.1, 0.2], drift: [0, 0], nis: 2, latency_ms: 3, ...more });
export const health = (more = {}) => ({ v: 1, kind: "health", stream: "bead", state: "tracking", uptime_s: 1, frames_in: 100, frames_tracked: 100, frames_dropped: {}, alarms: {}, stages: [], fps: 50, ...more });
export const law = (more = {}) => ({ v: 1, kind: "sde", stream: "bead", seq: 1, time: "2026-05-06T10:00:00.123456789Z", sigma: [1, 0.1], sigma_low: [0.9, 0], sigma_high: [1.1, 0.2], diffusion: [0.5, 0.005], noise_sd: [0, 0], activity: ["active", "inactive"], transitions: 1000, frames_held: 0, ...more });
export const event = (code, level = "warning", more = {}) => ({ v: 1, kind: "event", stream: "bead", seq: 1, time: "2026-05-06T10:00:00Z", code, level, text: code, count: 1, ...more });
