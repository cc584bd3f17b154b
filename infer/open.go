//go:build cgo

package infer

// kernels holds the parts of a model that our own code runs.
type kernels struct {
	trunk   *trunk   // nil if OpenCV runs the whole encoder
	left    []byte   // ONNX graph of the encoder without its trunk
	readout *readout // the compiled form of left; nil if OpenCV runs left
	own     pieces   // the parts before they are assigned, while the model opens
}

// tried opens the model once. A foreign model first opens in a child process.
func (m *Model) tried() error {
	if !m.ours() {
		if err := m.tryApart(trialTime); err != nil {
			return err
		}
	}
	return m.open()
}

// ours reports whether our export wrote every graph of the model and our kernels run the whole encoder.
func (m *Model) ours() bool {
	second, err := m.second()
	shapes := m.inputs(second)
	if !ours(m.encoder, shapes...) || m.decoder != nil && !ours(m.decoder, []int{1, m.Card.Latent}) {
		return false
	}
	m.cut()
	return err == nil && m.own.readout != nil
}

// open runs both graphs in this process, and assigns parts of the encoder to our own kernels.
func (m *Model) open() error {
	e, err := m.NewEncoder()
	if err != nil {
		return err
	}
	m.split(e)
	return e.Close()
}

// split moves the trunk, and if possible the rest, from OpenCV to our kernels, provided that the latents do not change. OpenCV 4.6 runs some operators
// differently after a convolution, so split compares the two on one picture. whole is an encoder that runs in OpenCV only.
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

// pieces are the two parts of an encoder's graph: one for our kernels, one for OpenCV.
type pieces struct {
	trunk   *trunk // nil if our kernels run nothing
	left    []byte
	readout *readout // the compiled form of left; nil if OpenCV runs left
}

// cut splits the encoder's graph, unless an earlier call did.
func (m *Model) cut() {
	second, err := m.second()
	if m.own.trunk != nil || err != nil {
		return
	}
	if m.own.trunk, m.own.left = cut(m.encoder, m.inputs(second)[0]); m.own.trunk != nil {
		m.own.readout = newReadout(m.own.left, m.own.trunk.output(), second, outputMean, outputLogSD)
	}
}

// agrees reports whether a new encoder, with the current split, gives the same latents as whole.
func (m *Model) agrees(whole *Encoder) bool {
	e, err := m.openEncoder()
	if err != nil {
		return false
	}
	defer e.Close()
	return e.agrees(whole)
}

// Whole returns a copy of the model whose encoder runs in OpenCV only, for comparison.
func (m *Model) Whole() *Model {
	w := *m
	w.trunk, w.left, w.readout = nil, nil, nil
	return &w
}
