// Package reach holds submitted configurations to the files, devices, programs and addresses that a worker allows. An option's tag reaches
// says what the option reaches:
//
//	nothing   it is a number, a word or a name
//	read      the path of a file or folder that is read
//	write     the path of a file or folder that is written
//	device    a camera, a wire or a chip of this machine
//	program   a pipeline, which may do what the program may
//	address   a server, a camera or a receiver on the network
//
// A text without the tag is refused. So is a source or a sink without any tag. OpenModel opens the models that users name.
package reach
