// Package placement says which worker should run which stream. It is a function without a leader: workers that see the same records get the same plan.
//
//	placement.go  Worker, Stream, Plan and Make
//	state.go      loads while a plan is made
//	step.go       the steps: to where a stream is pinned, off what is too full, onto some worker, levelling
//	rank.go       weighted rendezvous hashing, and the turns by it
//	reason.go     why a stream has no worker
//
// A plan is where no step applies any more, and steps look only at who holds what: so a plan that was carried out is its own plan. No step overfills a worker.
// Levelling moves a stream of w cores from i to j only where (load_j + w)/cores_j + Margin < load_i/cores_i: of the two, the greatest relative load becomes
// less, so that the relative loads in falling order decrease lexicographically, and levelling ends. Workers that carry a plan out one by one, each by what
// it sees then, only do such steps too.
//
// Cores are counted in thousandths, so that every machine compares the same numbers.
package placement
