// Package reach restricts submitted configurations to the files, devices, programs and addresses that a worker allows. An option's struct tag
// "reaches" declares what the option reaches:
//
//	nothing   it is a number, a word or a name
//	read      the path of a file or folder that is read
//	write     the path of a file or folder that is written
//	device    a camera, a wire or a chip of this machine
//	program   a pipeline, which has all rights of the program
//	address   a server, a camera or a receiver on the network
//
// A text option without the tag is refused, and so is a source or a sink without any tag. OpenModel opens models by their names.
package reach
