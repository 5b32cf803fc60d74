/* Makes one call of a kind that nothing else makes, from main through `outer` and `inner`: for -k and --stacks. */
#include <sys/syscall.h>
#include <unistd.h>

static volatile long sink;

static __attribute__((noinline)) void inner(void)
{
	sink = syscall(SYS_getppid);
}

static __attribute__((noinline)) void outer(void)
{
	inner();
	sink++; /* so that neither call becomes a jump */
}

int main(void)
{
	for (int i = 0; i < 3; i++)
		outer();
	sink++;
	return 0;
}
