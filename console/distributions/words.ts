/** "AustralianFrankedDividends" as people write it. */
export const componentName = (name: string) => name.replaceAll(/([a-z])([A-Z])/g, '$1 $2')
