package sdevae

// primePairs is how many pairs priming looks at, at most.
const primePairs = 300

// Where a random last layer folds the motion over itself, and unfolding it takes hundreds of steps, a restart begins with an
// encoder whose latents are components of what its first, random convolutions see, each of variance 1. Which components serve
// depends on the clip, so restarts take turns. The sampling noise starts at sd 1, which keeps short clips from being learnt by heart.
