//go:build !linux

package nice

import "time"

// spent is the time that passes, which is no less than a thread's processor time.
func spent() time.Duration { return elapsed() }
