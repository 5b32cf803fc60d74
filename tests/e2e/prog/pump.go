// Goroutines that call, sleep and talk: Go's own threads, stacks and signals.
package main

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

func main() {
	var all sync.WaitGroup
	total := make(chan int, 64)
	for i := 0; i < 32; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			for k := 0; k < 200; k++ {
				if syscall.Getppid() <= 0 {
					os.Exit(1)
				}
				if k%50 == 0 {
					time.Sleep(time.Millisecond)
				}
			}
			total <- i
		}(i)
	}
	for k := 0; k < 200; k++ { // the runtime's handler returns by code of Go
		if syscall.Kill(os.Getpid(), syscall.SIGURG) != nil {
			os.Exit(2)
		}
	}
	all.Wait()
	sum := 0
	for i := 0; i < 32; i++ {
		sum += <-total
	}
	fmt.Println(sum)
	fmt.Println("calls getppid", 32*200, 0)
}
