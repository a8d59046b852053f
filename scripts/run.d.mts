export function install(): Promise<void>
export function build(): Promise<void>
export function checkNode(): void
export function buildConsole(): Promise<void>
