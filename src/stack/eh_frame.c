#include "stack/eh_frame.h"

#include <errno.h>
#include <string.h>

static size_t encoded_size(uint8_t enc)
{
	switch (enc & 0x0f) {
	case 0x03: /* DW_EH_PE_udata4 */
	case 0x0b: /* DW_EH_PE_sdata4 */
		return 4;
	case 0x00: /* DW_EH_PE_absptr */
	case 0x04: /* DW_EH_PE_udata8 */
	case 0x0c: /* DW_EH_PE_sdata8 */
		return 8;
	default:
		return 0;
	}
}

int eh_frame_parse(const uint8_t *head, size_t n, uint64_t addr, struct eh_frame *t)
{
	enum { VERSION = 1, UDATA4 = 0x03, DATAREL_SDATA4 = 0x3b };
	if (n < 4 || head[0] != VERSION || head[2] != UDATA4 || head[3] != DATAREL_SDATA4)
		return -ENOTSUP;
	size_t skip = 4 + encoded_size(head[1]);
	uint32_t count;
	if (skip == 4 || n < skip + sizeof(count))
		return -ENOTSUP;
	memcpy(&count, head + skip, sizeof(count));
	*t = (struct eh_frame){.header = addr, .table = addr + skip + sizeof(count), .count = count};
	return 0;
}
