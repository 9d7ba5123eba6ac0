// Package doctor checks whether a machine is fit for the ranks of a job, and says what
// to do where it is not.
//
// It serves `weft doctor`. A check is a function of a Machine, which has all that checks
// look at: the files below /proc and /sys as an fs.FS, and a function for everything
// else. So a test gives it any machine. The command fills a Machine in for the one it
// runs on; ReadChild is the one reader that is more than a call.
//
// It imports nothing of Weft.
package doctor
