export const licencesFile: string
export function licencesPage(): string
export function productionPackages(): {
  name: string
  version: string
  licence: string
  optional: boolean
}[]
