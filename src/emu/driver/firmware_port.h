/* The emulated firmware and array behind the driver. */
#ifndef TW_EMU_DRIVER_FIRMWARE_PORT_H
#define TW_EMU_DRIVER_FIRMWARE_PORT_H

#include "emu/driver/driver.h"

/* Fills *firmware; *port, to be freed when no context is left, is what it works with. Fails with TW_E_MEMORY. */
int tw_drv_port_create(const struct tw_emu_driver_options *options, void **port, struct tw_emu_firmware *firmware,
                       struct tw_error *err);
void tw_drv_port_free(void *port);

#endif
