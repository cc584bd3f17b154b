package rtsp

import (
	"time"

	"github.com/pion/rtcp"
)

// ntpEpoch is the start of a sender report's clock, the year 1900, in Unix seconds.
const ntpEpoch = -2208988800

// earliest is the earliest plausible camera time. An earlier clock was never set and counts from power-on.
var earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// zero computes the camera's wall time at stamp 0 from a sender report (RFC 3550, 6.4.1). ticks is the report's stamp relative to the first packet. It returns
// false if the camera's clock was never set.
func zero(report *rtcp.SenderReport, ticks int64, hertz float64) (time.Time, bool) {
	seconds, fraction := int64(report.NTPTime>>32), report.NTPTime&0xffffffff
	if seconds < 1<<31 { // the NTP era that begins in 2036
		seconds += 1 << 32
	}
	wall := time.Unix(ntpEpoch+seconds, int64(fraction*1e9>>32)).UTC()
	if report.NTPTime == 0 || wall.Before(earliest) || wall.Year() > 2100 {
		return time.Time{}, false
	}
	return wall.Add(-time.Duration(float64(ticks) / hertz * float64(time.Second))), true
}
