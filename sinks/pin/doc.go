// Each writes only the triggers of its rules. Each writes the triggers of its rules, and nothing else.
//
// Sink (pin.go) is the shared part: Write passes a trigger to a goroutine (driver.go) that owns the device, and never waits for it. Triggers
// that the device does not take are lost. Sink counts them and reports them with a later Write (latent.NotTaken). It reopens a failed device
// once a second.
//
// A beginning that waited too long is dropped, because a late pulse hits the wrong event. An end is always written. When a device returns,
// and at the end of the run, every rule that it shows as on is set off.
package pin
