//go:build cgo

package infer

// kernels are what of a model this build runs itself.
type kernels struct {
	trunk   *trunk   // nil where OpenCV runs the whole encoder
	left    []byte   // ONNX: the encoder without its trunk
	readout *readout // left, compiled; nil where OpenCV runs it
	own     pieces   // while the model is opened
}

// tried opens the model once: that of others in a process of its own first.
func (m *Model) tried() error {
	if !m.ours() {
		if err := m.tryApart(trialTime); err != nil {
			return err
		}
	}
	return m.open()
}

// ours says whether our own kernels run the encoder whole, and OpenCV reads nothing but what our own export writes.
func (m *Model) ours() bool {
	second, err := m.second()
	shapes := m.inputs(second)
	if !ours(m.encoder, shapes...) || m.decoder != nil && !ours(m.decoder, []int{1, m.Card.Latent}) {
		return false
	}
	m.cut()
	return err == nil && m.own.readout != nil
}

// open tries both graphs in this process, and gives our own kernels what they run.
func (m *Model) open() error {
	e, err := m.NewEncoder()
	if err != nil {
		return err
	}
	m.split(e)
	return e.Close()
}

// split takes the encoder's trunk from OpenCV, and what is left where that can be, where the model then gives the same. OpenCV 4.6 reads
// some operators otherwise where a convolution stands before them, so one picture is tried on both; whole is the encoder as OpenCV runs it.
func (m *Model) split(whole *Encoder) {
	m.cut()
	own := m.own
	m.own = pieces{}
	if own.trunk == nil {
		return
	}
	m.trunk, m.left, m.readout = own.trunk.pack(widest()), own.left, own.readout
	if m.readout != nil && m.agrees(whole) {
		return
	}
	if m.readout = nil; !m.agrees(whole) {
		m.trunk, m.left = nil, nil
	}
}

// pieces are what our own kernels take of an encoder's graph, and what they leave.
type pieces struct {
	trunk   *trunk // nil where they take nothing
	left    []byte
	readout *readout // left, compiled; nil where that is OpenCV's
}

// cut takes the encoder apart, once.
func (m *Model) cut() {
	second, err := m.second()
	if m.own.trunk != nil || err != nil {
		return
	}
	if m.own.trunk, m.own.left = cut(m.encoder, m.inputs(second)[0]); m.own.trunk != nil {
		m.own.readout = newReadout(m.own.left, m.own.trunk.output(), second, outputMean, outputLogSD)
	}
}

// agrees says whether an encoder as the model now opens it gives the same as whole.
func (m *Model) agrees(whole *Encoder) bool {
	e, err := m.openEncoder()
	if err != nil {
		return false
	}
	defer e.Close()
	return e.agrees(whole)
}

// Whole is the same model with OpenCV running the whole encoder, to compare with.
func (m *Model) Whole() *Model {
	w := *m
	w.trunk, w.left, w.readout = nil, nil, nil
	return &w
}
