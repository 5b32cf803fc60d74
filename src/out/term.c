#include "out/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct table_look term_look(int fd)
{
	struct table_look look = {0};
	if (!isatty(fd))
		return look;
	struct winsize ws;
	look.width = ioctl(fd, TIOCGWINSZ, &ws) == 0 && ws.ws_col ? ws.ws_col : 80;
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	look.colour = !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
	return look;
}
