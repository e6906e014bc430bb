# Copies OBJECT to OUTPUT; there all that it defines is private. Templates and inline functions too, whose groups the linker
# dissolves: the same names mean other code where accesses are recorded.
execute_process(COMMAND ${LINKER} -r --force-group-allocation ${OBJECT} -o ${OUTPUT}.whole COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OBJCOPY} --keep-global-symbol=tessera_none ${OUTPUT}.whole ${OUTPUT} COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${OUTPUT}.whole)
