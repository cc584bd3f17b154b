// # Alarms
//
// Monitor detects frames that must not be learnt from, and changes of the law.
//
//	monitor.go   Monitor: when alarms begin and end, and what their events say
//	frame.go     which frames are held back                                                      (15)
//	change.go    evidence that the law has changed                                               (16)
//
// Every alarm begins with an event of level warning and ends with one of level info. A is the number of frames between false alarms.
//
// # Frames
//
// A frame is held back where its NIS exceeds the 1 - 1/A quantile q of χ², widened to n(e^(q/n) - 1) for variances known from n
// transitions; where a latent lies six sds of the training latents from their mean; and where the encoder's sd is four times its usual value. A
// held frame is counted, enters neither banks nor refinement nor filter, and makes the next step longer:                             (15)
//
//	unlike_training   NIS or place, one frame; over after 10 without
//	object_lost       5 frames held in a row; over after 10 that are not
//
// While the law is frozen, no forecast exists: only place and the encoder's sd judge a frame.
//
// After 50 held frames that follow from each other as diffusion and noise allow, the object is elsewhere and a new trajectory begins.
// After 500 held frames one begins whatever they are like, so that nothing freezes the estimator for ever. Until the law forecasts ten frames
// in a row again, frames are then believed that follow from the one before.
//
// # Law
//
// Of the believed frames, each active dimension's innovations e with variance s are weighed by laws that are not the one found, Λ being
// their likelihood ratio against it (Shiryaev 1963, Roberts 1966; Pollak 1985):
//
//	E ← min(Λ, 20)(1 + E),  alarm where the mean of E over the alternatives exceeds A         (16)
//	diffusion_changed   Λ = √(s/s')exp ½(e²/s - e'²/s'), of a filter with 4v or v/4
//	drift_changed       Λ = exp(ae/√s - a²/2), a = m√(v/Δt)h/√s, m = ±¼, ±½, ±1;  and of μ = 0
//
// h is the forecast's response to a drift of 1, h ← (1 - gain)Fh + Δt. Under the law E[Λ | past] = 1, whatever the noise and the time steps,
// so the mean of E is at most k on average after k frames, and an alarm is false once in A frames at most. The laws are found and not
// given, so a comparison waits: the diffusion's until refinement has asked for the drift
// of the dimension and its interval is within a factor of two either way, the drift's until m²n > 256. μ = 0 is compared with the least drift
// compatible with the one found, cμ with c three standard deviations below 1 but a half at least. The deviation belongs to a scale known from the
// responses g to the drift found, in sds: c = max(½, 1 - 3/√Σg²). If the truth is at least c times the drift found, E[Λ | past] = exp(-(c' - c)cg²) is 1 at most.
// Until the drift found is established, by 12 nats over no drift, shifts must beat no drift as well. Where it is worth less than a nat in
// 2048 frames it must be established again: E of no drift is 0 until then. Both rules only take from E, by what is known
// before the frame, so that the mean of E stays at most k. An alarm is over at A/100.
//
// too_few_dimensions begins by the evidence of (22) in online/regression.
//
// Simulated at A = 1000, 15000 frames of a known spring with r = 0, 1 and 9 gave 5 to 7 false alarms of the diffusion, 4 or 5 of the drift,
// and 14 to 19 held frames, where 15 are allowed. At A = 1e5, on seeds that nothing was chosen by, 300000 frames of a known spring gave one
// of the diffusion, 2 of the drift and 3 held frames; 720000 of springs, spirals and constant drifts learnt from nothing, r from 0 to 16,
// gave 4, 2 and 4. Those are two dimensions and Gaussian noise; where latents are neither, expect more. Changes were noticed, in two or
// three runs each at r up to 1, after 14 to 22 frames where σ doubled (27 to 64 at r = 4), 72 to 77 where it was halved, 90 to 191 where a
// spring's centre moved by 2.8 of its own widths, and 33 to 215 where a spiral was reversed.
//
// # Light
//
//	bleached   the picture's light, over 50 frames, below half of that of the first 50; over above 0.6
package online
