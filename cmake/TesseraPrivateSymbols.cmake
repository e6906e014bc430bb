# Copies OBJECT to OUTPUT and makes all its symbols private. Includes templates and inline functions, whose groups the linker
# would merge: with recorded accesses the same names have other code.
execute_process(COMMAND ${LINKER} -r --force-group-allocation ${OBJECT} -o ${OUTPUT}.whole COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OBJCOPY} --keep-global-symbol=tessera_none ${OUTPUT}.whole ${OUTPUT} COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${OUTPUT}.whole)
