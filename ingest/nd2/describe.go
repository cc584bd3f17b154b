package nd2

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// format is the storage format of pictures.
type format struct {
	depth    tiff.Depth
	rowBytes int
	packed   bool // with zlib
}

// readFormat reads the attributes of the pictures.
func (f *Film) readFormat(a level) error {
	const most = 1 << 26 // bound on the width, the height and the bytes of a row
	width, w := a.whole("uiWidth", most)
	height, h := a.whole("uiHeight", most)
	channels, c := a.whole("uiComp", maxChannels)
	bits, b := a.whole("uiBpcInMemory", 64)
	if !w || !h || !c || !b || channels < 1 {
		return fmt.Errorf("its attributes lack valid width, height, bits or 1 to %d components: the file is damaged, copy it again", maxChannels)
	}
	depths := map[int]tiff.Depth{8: tiff.Uint8, 16: tiff.Uint16, 32: tiff.Float32}
	depth, known := depths[bits]
	if !known {
		return tiff.Unread("components of %d bits, 8, 16 or 32 expected: export it as TIFF", bits)
	}
	if err := tiff.CheckSize(width, height, depth.Bytes()); err != nil {
		return err
	}
	f.Width, f.Height, f.Channels = width, height, channels
	f.format.depth = depth
	least := width * channels * depth.Bytes()
	rowBytes, said := a.whole("uiWidthBytes", most)
	if f.format.rowBytes = rowBytes; !said {
		f.format.rowBytes = least
	}
	if f.format.rowBytes < least || f.format.rowBytes > maxPacked/height {
		return tiff.Unread("it has rows of %d bytes, %d expected for %d pixels of %d components, and at most %d MiB per picture: export it as TIFF", f.format.rowBytes, least, width, channels, maxPacked>>20)
	}
	switch compression := a.number("eCompression", 2); compression {
	case 0:
		f.format.packed = true
	case 2:
	default:
		return tiff.Unread("it is compressed with loss (%g), no compression or zlib expected: export it as TIFF", compression)
	}
	for _, tile := range []struct {
		name string
		side int
	}{{"uiTileWidth", width}, {"uiTileHeight", height}} {
		if side := a.number(tile.name, 0); side > 0 && side != float64(tile.side) {
			return tiff.Unread("%s is %g: pictures in tiles are not supported, export it as TIFF", tile.name, side)
		}
	}
	return nil
}

// The kinds of loop.
const (
	timeLoop     = 1
	positionLoop = 2
	sliceLoop    = 4
	spectralLoop = 6
	phasesLoop   = 8 // time in phases, each with its own step
)

// loop is an axis of the experiment, such as time or slices.
type loop struct {
	kind, count int
	interval    float64 // seconds, for time
}

// readLoops finds the axes of time and slices. The metadata list the loops with the outermost first.
func (f *Film) readLoops() error {
	f.Times, f.Slices = 1, 1
	last := slices.Max(slices.Collect(maps.Keys(f.pictures)))
	if _, found := f.chunks["ImageMetadataLV!"]; !found {
		f.Times, f.stride = last+1, [2]int{1, 0}
		return nil
	}
	experiment, err := f.metadata("ImageMetadataLV!", "SLxExperiment")
	if err != nil {
		return err
	}
	var loops []loop
	for depth := 0; experiment != nil && depth < maxLevels; depth++ {
		l, err := readLoop(experiment)
		if err != nil {
			return err
		}
		if l.count == 0 && l.kind != spectralLoop {
			break
		}
		if l.kind != spectralLoop {
			loops = append(loops, l)
		}
		next := experiment.level("ppNextLevelEx")
		experiment = nil
		if len(next) > 0 {
			experiment = next[0].inside
			if inside := experiment.level("SLxExperiment"); inside != nil {
				experiment = inside
			}
		}
	}
	step := 1
	for _, l := range slices.Backward(loops) {
		var axis *int
		which := 0
		switch l.kind {
		case timeLoop, phasesLoop:
			axis, f.Interval = &f.Times, l.interval
		case sliceLoop:
			axis, which = &f.Slices, 1
		}
		switch {
		case l.count == 1:
			continue
		case axis == nil:
			return tiff.Unread("there are %d positions of the stage, one expected: split it in NIS-Elements", l.count)
		case *axis != 1:
			return tiff.Unread("it has two loops of time or of slices within each other, one of each expected: split it in NIS-Elements")
		}
		*axis, f.stride[which] = l.count, step
		if step *= l.count; step > bounded.MaxFrames {
			return tiff.Unread("it has loops of more than %d pictures: split the recording", bounded.MaxFrames)
		}
	}
	if last >= step {
		if len(loops) > 0 && step > 1 {
			return tiff.Unread("its loops make %d pictures and there are %d in the file: export it as TIFF", step, last+1)
		}
		f.Times, f.Slices, f.stride = last+1, 1, [2]int{1, 0}
	}
	if f.stride[0] > f.stride[1] { // time is the outer loop, which may have been stopped early
		f.Times = min(f.Times, last/f.stride[0]+1)
	}
	return nil
}

// readLoop reads one level of an experiment.
func readLoop(e level) (l loop, err error) {
	kind, known := e.whole("eType", 255)
	parameters := e.level("uLoopPars")
	if !known || parameters == nil {
		return loop{}, nil
	}
	l = loop{kind: kind}
	count, _ := parameters.whole("uiCount", bounded.MaxFrames)
	l.count = count
	switch kind {
	case timeLoop:
		l.interval = period(parameters)
	case sliceLoop, spectralLoop:
	case phasesLoop:
		l.count = 0
		valid := parameters.find("pPeriodValid")
		phases := 0
		for i, p := range parameters.level("pPeriod") {
			if valid != nil && i < len(valid.bytes) && valid.bytes[i] == 0 {
				continue
			}
			n, _ := p.inside.whole("uiCount", bounded.MaxFrames)
			if l.count += n; l.count > bounded.MaxFrames {
				return l, tiff.Unread("it has more than %d times: split the recording", bounded.MaxFrames)
			}
			l.interval = period(p.inside)
			phases++
		}
		if phases > 1 {
			l.interval = 0 // phases have different steps
		}
	case positionLoop:
		valid := e.find("pItemValid")
		l.count = 0
		for i := range parameters.level("Points") {
			if valid == nil || i >= len(valid.bytes) || valid.bytes[i] != 0 {
				l.count++
			}
		}
	default:
		return l, tiff.Unread("it has a loop of kind %d, time or slices expected: export it as TIFF", kind)
	}
	return l, nil
}

// period returns the step of a time loop in seconds: the measured mean, or else the requested step.
func period(l level) float64 {
	for _, name := range []string{"dAvgPeriodDiff", "dPeriod"} {
		if ms := l.number(name, 0); ms > 0 && !math.IsInf(ms, 0) {
			return ms / 1e3
		}
	}
	return 0
}

// describe reads the names of channels and the size of a pixel. Invalid metadata are ignored.
func (f *Film) describe() {
	if m, err := f.metadata("ImageMetadataSeqLV|0!", "SLxPictureMetadata"); err == nil {
		planes := m.level("sPicturePlanes").level("sPlaneNew")
		if len(planes) == f.Channels {
			for _, p := range planes {
				label := ""
				if r := p.inside.find("sDescription"); r != nil {
					label = r.text
				}
				f.Labels = append(f.Labels, label)
			}
		}
		if m.number("bCalibrated", 0) != 0 {
			f.PixelUM = m.number("dCalibration", 0)
		}
	}
	if f.PixelUM == 0 {
		if m, err := f.metadata("ImageCalibrationLV|0!", "SLxCalibration"); err == nil && m.number("bCalibrated", 1) != 0 {
			f.PixelUM = m.number("dCalibration", 0)
		}
	}
	if !(f.PixelUM > 0) || math.IsInf(f.PixelUM, 0) {
		f.PixelUM = 0
	}
}
