/** It dies before it speaks its protocol, and says why where nobody expects it. */
process.stdout.write('Error: cannot find module x\n', () => process.exit(4));
